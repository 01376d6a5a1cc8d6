#pragma once
/// The kernels of rectified_product.h, made of CUTLASS's parts: its pipeline of tiles on Hopper, and nodes of our own
/// in the tree of functions that it applies to each sum before storing it.
#include "gpu_kernels/device.cuh"
// CUTLASS's order matters.
#include <cutlass/cutlass.h>
#include <cutlass/gemm/device/gemm_universal_adapter.h>

#include <cute/tensor.hpp>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/epilogue/fusion/sm90_callbacks_tma_warpspecialized.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>

namespace lengthwise::gpu::rectified {

namespace fusion = cutlass::epilogue::fusion;

/// sum -> dropout(max(sum, 0)). A thread's sums lie in rows m and m + 8 of each 64 (of kHalf) rows of its tile, in
/// pairs of columns from an even one on: the rows are hashed once, and a pair of columns has one hash.
template <int kTileRows, int kHalf>
struct DropRectified {
  using Arguments = DropoutArgs;
  using Params = DropoutArgs;
  struct SharedStorage {};

  template <class Shape>
  static constexpr Params to_underlying_arguments(const Shape&, const Arguments& arguments, void*) {
    return arguments;
  }
  template <class Shape>
  static bool can_implement(const Shape&, const Arguments&) {
    return true;
  }
  template <class Shape>
  static size_t get_workspace_size(const Shape&, const Arguments&) {
    return 0;
  }
  template <class Shape>
  static cutlass::Status initialize_workspace(const Shape&, const Arguments&, void*, cudaStream_t,
                                              cutlass::CudaHostAdapter* = nullptr) {
    return cutlass::Status::kSuccess;
  }

  CUTLASS_HOST_DEVICE DropRectified() {}
  CUTLASS_HOST_DEVICE DropRectified(const Params& given, const SharedStorage&) : params(&given) {}

  CUTLASS_DEVICE bool is_producer_load_needed() const { return false; }
  CUTLASS_DEVICE bool is_C_load_needed() const { return false; }

  template <class... Args>
  CUTLASS_DEVICE auto get_producer_load_callbacks(const fusion::detail::ProducerLoadArgs<Args...>&) {
    return fusion::detail::EmptyProducerLoadCallbacks{};
  }

  template <class Places>
  struct Callbacks : fusion::detail::EmptyConsumerStoreCallbacks {
    static constexpr int kHalves = (kTileRows + kHalf - 1) / kHalf;

    CUTLASS_DEVICE Callbacks(const Params& params, Places given, int first_row, int first_column)
        : places(given), mask(params), first_pair(Mask::pair_key(static_cast<uint32_t>(first_column) / 2)) {
      if (!mask.active()) return;
      CUTLASS_PRAGMA_UNROLL
      for (int half = 0; half < kHalves; ++half) {
        for (int below = 0; below < 2; ++below) {
          keys[half][below] = mask.row(static_cast<uint64_t>(first_row + half * kHalf + 8 * below));
        }
      }
    }

    template <class Sum, int kCount>
    CUTLASS_DEVICE cutlass::Array<float, kCount> visit(const cutlass::Array<Sum, kCount>&, int part, int tile_m,
                                                       int tile_n, const cutlass::Array<Sum, kCount>& sums) {
      static_assert(kCount % 2 == 0);
      cutlass::Array<float, kCount> results;
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < kCount; ++i) results[i] = fmaxf(sums[i], 0.0f);
      // One branch for all: with one for each pair, their hashes would be computed one after the other.
      if (!mask.active()) return results;
      const auto here = places(cute::_, cute::_, cute::_, tile_m, tile_n);
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < kCount; i += 2) {
        const auto place = here(part * kCount + i);
        const int m = cute::get<0>(place);
        const int n = cute::get<1>(place);
        const uint32_t bits =
            Mask::pair_bits(keys[m / kHalf][m / 8 % 2], first_pair + Mask::pair_key(static_cast<uint32_t>(n) / 2));
        results[i] = mask.keeps(bits, false) ? results[i] * mask.scale() : 0.0f;
        results[i + 1] = mask.keeps(bits, true) ? results[i + 1] * mask.scale() : 0.0f;
      }
      return results;
    }

    Places places;  ///< of the thread's sums, relative to the first one
    Mask mask;
    uint32_t first_pair;
    uint32_t keys[kHalves][2] = {};
  };

  template <bool kOfSource, class... Args>
  CUTLASS_DEVICE auto get_consumer_store_callbacks(const fusion::detail::ConsumerStoreArgs<Args...>& args) {
    const auto first_row = cute::get<0>(args.problem_shape_mnkl) - cute::get<0>(args.residue_tCcD);
    const auto first_column = cute::get<1>(args.problem_shape_mnkl) - cute::get<1>(args.residue_tCcD);
    return Callbacks<decltype(args.tCcD)>(*params, args.tCcD, first_row, first_column);
  }

  const Params* params = nullptr;
};

struct PassBackArguments {
  float scale;
};

/// (y, dy) -> dy * scale where y > 0, else 0.
template <class T>
struct PassBack {
  using Arguments = PassBackArguments;
};
template <int kCount>
struct PassBack<cutlass::Array<float, kCount>> {
  using Arguments = PassBackArguments;
  using Values = cutlass::Array<float, kCount>;

  CUTLASS_HOST_DEVICE Values operator()(const Values& y, const Values& dy, const Arguments& arguments) const {
    Values result;
    CUTLASS_PRAGMA_UNROLL
    for (int i = 0; i < kCount; ++i) result[i] = y[i] > 0 ? dy[i] * arguments.scale : 0.0f;
    return result;
  }
};

/// How a product is cut: tiles of kM x kN sums and 64 deep, made by two warp groups together or by turns.
template <int kM, int kN, bool kTogether, int kClusterM, int kClusterN>
struct Cut {
  using Tile = cute::Shape<cute::Int<kM>, cute::Int<kN>, cute::_64>;
  using Cluster = cute::Shape<cute::Int<kClusterM>, cute::Int<kClusterN>, cute::_1>;
  using Kernel = std::conditional_t<kTogether, cutlass::gemm::KernelTmaWarpSpecializedCooperative,
                                    cutlass::gemm::KernelTmaWarpSpecializedPingpong>;
  using Epilogue = std::conditional_t<kTogether, cutlass::epilogue::TmaWarpSpecializedCooperative,
                                      cutlass::epilogue::TmaWarpSpecialized>;
  static constexpr int kRows = kM;
  static constexpr int kHalf = kTogether ? 128 : 64;  ///< rows of all warp groups that make a tile
};

using Forward = std::integral_constant<bool, true>;
using Backward = std::integral_constant<bool, false>;

/// Forward: B is [k, n] row-major and nothing is read besides the operands. Backward: B is [n, k], and what is there at
/// the result's place is read from C.
template <class Way, class Cut>
struct ProductOf {
  static constexpr bool kForward = Way::value;
  using Element = cutlass::bfloat16_t;
  using RowMajor = cutlass::layout::RowMajor;
  using LayoutB = std::conditional_t<kForward, RowMajor, cutlass::layout::ColumnMajor>;
  using Source = std::conditional_t<kForward, void, Element>;
  static constexpr int kAligned = 8;  ///< elements

  using Apply = fusion::Sm90Compute<PassBack, float, float, cutlass::FloatRoundStyle::round_to_nearest>;
  using Tree =
      std::conditional_t<kForward, fusion::Sm90EVT<DropRectified<Cut::kRows, Cut::kHalf>, fusion::Sm90AccFetch>,
                         fusion::Sm90EVT<Apply, fusion::Sm90SrcFetch<Element>, fusion::Sm90AccFetch>>;

  using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, typename Cut::Tile, typename Cut::Cluster,
      cutlass::epilogue::collective::EpilogueTileAuto, float, float, Source, RowMajor, kAligned, Element, RowMajor,
      kAligned, typename Cut::Epilogue, Tree>::CollectiveOp;
  using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Element, RowMajor, kAligned, Element, LayoutB, kAligned,
      float, typename Cut::Tile, typename Cut::Cluster,
      cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage))>,
      typename Cut::Kernel>::CollectiveOp;
  using Kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue>;
  using Device = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;
};

/// d [m, n] from a [m, k] and b; c [m, n] for the way back. All rows lie one after the other.
template <class Product>
void launch_product(int m, int n, int k, const void* a, const void* b, const void* c, void* d,
                    typename Product::Tree::Arguments tree, int multiprocessors, cudaStream_t stream) {
  using Element = typename Product::Element;
  typename Product::Device::Arguments arguments;
  arguments.mode = cutlass::gemm::GemmUniversalMode::kGemm;
  arguments.problem_shape = {m, n, k, 1};
  arguments.mainloop.ptr_A = static_cast<const Element*>(a);
  cute::get<0>(arguments.mainloop.dA) = k;
  arguments.mainloop.ptr_B = static_cast<const Element*>(b);
  if constexpr (Product::kForward) {
    cute::get<1>(arguments.mainloop.dB) = n;
  } else {
    cute::get<0>(arguments.mainloop.dB) = k;
    arguments.epilogue.ptr_C = static_cast<const Element*>(c);
    cute::get<0>(arguments.epilogue.dC) = n;
  }
  arguments.epilogue.thread = tree;
  arguments.epilogue.ptr_D = static_cast<Element*>(d);
  cute::get<0>(arguments.epilogue.dD) = n;
  arguments.hw_info.sm_count = multiprocessors;
  typename Product::Device device;
  const auto check = [](cutlass::Status status) {
    require(status == cutlass::Status::kSuccess, std::string("CUTLASS: ") + cutlass::cutlassGetStatusString(status));
  };
  check(Product::Device::can_implement(arguments));
  check(device.initialize(arguments, nullptr, stream));
  check(device.run(stream, nullptr, /*launch_with_pdl=*/true));
}

}  // namespace lengthwise::gpu::rectified
