#include "gpu/side_stream.h"

namespace lengthwise {
namespace {

void order(cudaEvent_t event, cudaStream_t before, cudaStream_t after) {
  gpu::check_cuda(cudaEventRecord(event, before), "ordering streams");
  gpu::check_cuda(cudaStreamWaitEvent(after, event, 0), "ordering streams");
}

}  // namespace

SideStream::SideStream(gpu::Storage operands, bool tf32) {
  gpu::check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a second stream");
  for (cudaEvent_t* event : {&followed_, &led_, &marked_}) {
    gpu::check_cuda(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "an event");
  }
  products_.emplace(operands, tf32, stream_);
}

SideStream::~SideStream() {
  products_.reset();
  for (cudaEvent_t event : {followed_, led_, marked_}) cudaEventDestroy(event);
  cudaStreamDestroy(stream_);
}

void SideStream::follow(cudaStream_t main) {
  order(followed_, main, stream_);
}

void SideStream::lead(cudaStream_t main) {
  order(led_, stream_, main);
  has_mark_ = false;
}

void SideStream::mark() {
  gpu::check_cuda(cudaEventRecord(marked_, stream_), "ordering streams");
  has_mark_ = true;
}

void SideStream::wait_for_mark(cudaStream_t main) {
  if (has_mark_) gpu::check_cuda(cudaStreamWaitEvent(main, marked_, 0), "ordering streams");
}

}  // namespace lengthwise
