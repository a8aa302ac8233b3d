#include "mayfly/runtime/internal/job_engine.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "mayfly/runtime/internal/annotate.h"
#include "mayfly/serde/internal/guarded_call.h"
#include "mayfly/serde/internal/string_view.h"
#include "mayfly/serde/status_macros.h"
#include "runtime/checkpoint_coordinator.h"
#include "runtime/checkpoint_store.h"
#include "runtime/input_reader.h"
#include "runtime/interval_timer.h"
#include "runtime/job_directory.h"
#include "runtime/job_restore.h"
#include "runtime/job_start.h"
#include "runtime/job_sweeps.h"
#include "runtime/job_totals.h"
#include "runtime/mutex.h"
#include "runtime/restore_meter.h"
#include "runtime/shard_runner.h"

namespace mayfly::runtime_internal {
namespace {

void LogToStandardError(std::string_view message) {
  const std::string line = absl::StrCat(ToAbsl(message), "\n");
  // There is nobody to tell if this fails.
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

std::string NameOf(int shard) { return absl::StrCat("shard ", shard); }

class JobEngine {
 public:
  JobEngine(JobPlan& plan, JobRequests& requests)
      : plan_(plan),
        options_(plan.options),
        requests_(requests),
        clock_(options_.processing_clock != nullptr ? options_.processing_clock
                                                    : SystemClock()),
        sweeps_(plan, clock_) {}
  JobEngine(const JobEngine&) = delete;
  JobEngine& operator=(const JobEngine&) = delete;

  ~JobEngine() {
    CancelQueues();
    JoinThreads();
  }

  // Nothing is changed before all has been looked at that could be in the way.
  absl::Status Prepare() {
    MAYFLY_RETURN_IF_ERROR(plan_.source->Open());
    MAYFLY_RETURN_IF_ERROR(CheckApart());
    RestoreMeter meter(plan_, *clock_, requests_.stop);
    MAYFLY_ASSIGN_OR_RETURN(const JobStart start,
                            FindStart(plan_, *clock_, meter));
    MAYFLY_ASSIGN_OR_RETURN(CheckpointStores stores,
                            OpenStores(options_, start.lineage));
    MAYFLY_ASSIGN_OR_RETURN(directory_,
                            JobDirectory::Open(options_, start.beginning));
    absl::Status status =
        GuardedCall("the source, the sink or a callback",
                    [&] { return OpenAll(start, std::move(stores)); });
    if (!directory_->is_beginning()) return status;
    if (status.ok()) return directory_->FinishBeginning();
    // Half a beginning would pass for the job.
    shards_.clear();
    directory_->AbandonBeginning().IgnoreError();
    return status;
  }

  // Reads on this thread, while each shard works on one of its own.
  absl::Status Work() {
    for (int shard = 0; shard < options_.shards; ++shard) {
      sweeps_.Add(NameOf(shard), shards_[shard]->disk_sweeper());
    }
    MAYFLY_RETURN_IF_ERROR(sweeps_.Start());
    const absl::Status started =
        GuardedCall("starting a thread for each shard", [this] {
          for (int shard = 0; shard < options_.shards; ++shard) {
            threads_.emplace_back([this, shard] {
              EndShard(shard, GuardedCall("the sink", [&] {
                         return shards_[shard]->Run();
                       }));
            });
          }
          return absl::OkStatus();
        });
    Fail(started);
    if (started.ok()) {
      Fail(GuardedCall("the source or a callback",
                       [&] { return reader_->Run(requests_.stop); }));
    }
    JoinThreads();
    sweeps_.Stop();
    checkpoints_->Finish();
    Fail(GuardedCall("a callback", [this] {
      sweeps_.PassOnErrors();
      return absl::OkStatus();
    }));
    {
      MutexLock lock(mutex_);
      if (!first_error_.ok()) return first_error_;
    }
    if (checkpoints_->last_savepoint().ok()) return absl::OkStatus();
    return Annotate(checkpoints_->last_savepoint(),
                    "stopped and committed, but without the savepoint that was "
                    "to be written");
  }

  JobSummary Summary() const {
    JobTotals totals = TotalsOf(ReportsOf(shards_));
    JobSummary summary;
    summary.complete = reader_->at_end();
    summary.already_complete = was_complete_ && summary.complete &&
                               reader_->position() == reader_->start();
    summary.elapsed = reader_->progress().elapsed();
    summary.records = totals.records;
    summary.records_in_this_run = totals.records - records_before_;
    summary.input_lines = reader_->position().lines;
    summary.input_bytes = reader_->position().bytes;
    summary.malformed_lines = reader_->malformed_lines();
    summary.late_elements = totals.late_elements;
    summary.states = std::move(totals.states);
    summary.swept = sweeps_.totals();
    summary.sweeps = sweeps_.history();
    summary.checkpoints = checkpoints_->checkpoints();
    summary.savepoints = checkpoints_->savepoints();
    summary.retired_outputs = retired_outputs_;
    for (int shard = 0; shard < options_.shards; ++shard) {
      const ShardReport report = shards_[shard]->report();
      summary.shards.push_back({.directory = directory_->ShardDirectory(shard),
                                .output = shards_[shard]->output(),
                                .records = report.records,
                                .output_bytes = report.output_bytes,
                                .commits = report.commits,
                                .watermark_ms = report.watermark_ms});
    }
    return summary;
  }

 private:
  // A job that wrote over its own input would have nothing left to read.
  absl::Status CheckApart() const {
    std::error_code ignored;
    const std::filesystem::path output = plan_.sink->name();
    // Standard input may be a file, too.
    std::filesystem::path input = plan_.source->name();
    if (!std::filesystem::exists(input, ignored)) {
      input = std::filesystem::canonical("/dev/stdin", ignored);
      if (input.empty()) return absl::OkStatus();
    }
    const std::filesystem::path holder =
        std::filesystem::absolute(input, ignored).parent_path();
    const bool same = (std::filesystem::is_regular_file(output, ignored) &&
                       std::filesystem::equivalent(input, output, ignored)) ||
                      (std::filesystem::is_directory(output, ignored) &&
                       std::filesystem::equivalent(holder, output, ignored));
    if (!same) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "'", plan_.sink->name(),
        "' is input and output, or holds both; give another output"));
  }

  absl::Status OpenAll(const JobStart& start, CheckpointStores stores) {
    checkpoints_.emplace(std::move(stores), plan_, *directory_, *clock_,
                         requests_);
    if (start.restore) {
      MAYFLY_RETURN_IF_ERROR(
          start.restore->FillShards(MakeBackendOptions(), *directory_));
    }
    MAYFLY_RETURN_IF_ERROR(OpenShards());
    reader_.emplace(plan_, *clock_, shards_, *checkpoints_, sweeps_);
    MAYFLY_RETURN_IF_ERROR(reader_->Start());
    if (reader_->start().bytes > 0) LogRestart();
    return OpenOutputs();
  }

  BackendOptions MakeBackendOptions() {
    BackendOptions backend;
    backend.kind = options_.backend;
    backend.durability = options_.durability;
    backend.table_bytes_max = options_.table_bytes_max;
    backend.processing_clock = options_.processing_clock;
    backend.storage = options_.storage;
    backend.rocksdb = options_.rocksdb;
    backend.migration.stop = &requests_.stop;
    if (backend.storage == nullptr && backend.kind == BackendKind::kRocksdb) {
      // The defaults are in range.
      backend.storage = StorageResources::Create({}).value();
    }
    return backend;
  }

  absl::Status OpenShards() {
    BackendOptions backend = MakeBackendOptions();
    for (int shard = 0; shard < options_.shards; ++shard) {
      backend.directory = directory_->ShardDirectory(shard);
      backend.migration.on_progress = MigrationLog(shard);
      shards_.push_back(std::make_unique<ShardRunner>(plan_, shard, *clock_));
      if (absl::Status status = shards_.back()->Open(backend); !status.ok()) {
        return Annotate(status, NameOf(shard));
      }
      was_complete_ &= shards_.back()->position().input_done();
      records_before_ += shards_.back()->position().records();
    }
    return absl::OkStatus();
  }

  // Also of shards that the job has no more, whose lines are the job's still.
  absl::Status OpenOutputs() {
    for (const auto& shard : shards_) {
      MAYFLY_RETURN_IF_ERROR(shard->OpenOutput());
    }
    const std::vector<std::uint64_t> retired =
        directory_->retired_output_bytes();
    const int parts = options_.shards + static_cast<int>(retired.size());
    for (int part = options_.shards; part < parts; ++part) {
      const std::uint64_t bytes =
          retired[static_cast<std::size_t>(part - options_.shards)];
      MAYFLY_ASSIGN_OR_RETURN(const std::unique_ptr<SinkWriter> writer,
                              plan_.sink->OpenShard(part, parts, bytes));
      retired_outputs_.push_back({.name = writer->name(), .bytes = bytes});
    }
    return absl::OkStatus();
  }

  // Tells every ten seconds how far the rewriting of a state has come, and how
  // it ended.
  decltype(MigrationOptions::on_progress) MigrationLog(int shard) const {
    return
        [this, shard,
         timer = IntervalTimer(std::chrono::seconds(10), clock_->NowMs())](
            const std::string& state, const TransferProgress& so_far) mutable {
          const TimestampMs now_ms = clock_->NowMs();
          const bool done = so_far.keys_done == so_far.keys_total;
          if (!done && !timer.Due(now_ms)) return;
          timer.Restart(now_ms);
          plan_.log(absl::StrCat(
              "job '", options_.name, "', ", NameOf(shard), ": state '", state,
              "' is stored otherwise: ", so_far.keys_done,
              done ? "" : absl::StrCat(" of about ", so_far.keys_total),
              " keys rewritten, ", so_far.keys_expired, " of them dropped as ",
              "expired"));
        };
  }

  void LogRestart() const {
    plan_.log(absl::StrCat(
        "job '", options_.name, "' goes on after line ", reader_->start().lines,
        " of ", plan_.source->name(),
        plan_.source->total_bytes()
            ? ""
            : absl::StrCat(
                  ", which cannot be rewound: its first ",
                  reader_->start().bytes,
                  " bytes are taken for those that were read before")));
  }

  void EndShard(int shard, const absl::Status& status) {
    if (!status.ok()) Fail(Annotate(status, NameOf(shard)));
  }

  // The first error ends the whole job.
  void Fail(const absl::Status& status) {
    if (status.ok()) return;
    {
      MutexLock lock(mutex_);
      if (first_error_.ok()) first_error_ = status;
    }
    CancelQueues();
  }

  void CancelQueues() {
    for (const auto& shard : shards_) shard->queue().Cancel();
  }

  void JoinThreads() {
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

  JobPlan& plan_;
  const JobOptions& options_;
  JobRequests& requests_;
  const std::shared_ptr<const TtlClock> clock_;
  std::optional<JobDirectory> directory_;
  ShardRunners shards_;
  // Used by the shards' threads, and by the reader.
  std::optional<CheckpointCoordinator> checkpoints_;
  JobSweeps sweeps_;
  std::optional<InputReader> reader_;
  // As the last run left it.
  bool was_complete_ = true;
  std::uint64_t records_before_ = 0;
  std::vector<RetiredOutput> retired_outputs_;

  Mutex mutex_;
  absl::Status first_error_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace

absl::Status CheckParts(
    std::initializer_list<std::pair<std::string_view, bool>> parts) {
  for (const auto& [call, there] : parts) {
    if (there) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the job lacks what ", ToAbsl(call),
                     " gives it; call it with all of "
                     "its arguments"));
  }
  return absl::OkStatus();
}

absl::StatusOr<JobSummary> RunJob(JobPlan& plan, JobRequests& requests) {
  MAYFLY_RETURN_IF_ERROR(Validate(plan.options));
  if (std::exchange(plan.started, true)) {
    return absl::FailedPreconditionError(
        absl::StrCat("job '", plan.options.name,
                     "' has run; make another one to run it "
                     "again"));
  }
  if (plan.log == nullptr) plan.log = LogToStandardError;
  JobEngine engine(plan, requests);
  absl::Status status =
      GuardedCall("the source, the sink or a callback", [&]() -> absl::Status {
        MAYFLY_RETURN_IF_ERROR(engine.Prepare());
        return engine.Work();
      });
  if (!status.ok()) {
    return Annotate(status, absl::StrCat("job '", plan.options.name, "'"));
  }
  return engine.Summary();
}

}  // namespace mayfly::runtime_internal
