#include "imported/operators.h"

#include <set>
#include <sstream>

namespace pipedream::imported {
namespace {

// Functions of their arguments alone. None of them reads or writes a file, and every one that draws
// random numbers is replaced (imported/special.h).
constexpr const char* kAllowed = R"(
  abs absolute acos acosh adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
  adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d add addbmm addcdiv addcmul addmm addmv
  addr adjoint affine_grid_generator alias all alpha_dropout amax amin aminmax angle any arange
  arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argsort asin asinh atan atan2
  atanh atleast_1d atleast_2d atleast_3d avg_pool1d avg_pool2d avg_pool3d baddbmm bartlett_window
  batch_norm bernoulli bilinear binary_cross_entropy binary_cross_entropy_with_logits bitwise_and
  bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman_window
  block_diag bmm broadcast_tensors broadcast_to bucketize cartesian_prod cat cdist ceil celu
  chain_matmul channel_shuffle cholesky cholesky_inverse cholesky_solve chunk clamp clamp_max
  clamp_min clip clone col2im column_stack combinations complex concat concatenate conj
  conj_physical constant_pad_nd contiguous conv1d conv2d conv3d conv_tbc conv_transpose1d
  conv_transpose2d conv_transpose3d convolution copy copysign cos cosh cosine_embedding_loss
  cosine_similarity count_nonzero cross cross_entropy_loss cummax cummin cumprod cumsum deg2rad det
  detach diag diag_embed diagflat diagonal diagonal_scatter diff digamma dist div divide dot dropout
  dsplit dstack einsum elu embedding embedding_bag empty empty_like empty_permuted eq erf erfc
  erfinv exp exp2 expand expand_as expand_copy expm1 exponential eye feature_alpha_dropout
  feature_dropout fft_fft fft_fft2 fft_fftn fft_fftshift fft_hfft fft_ifft fft_ifft2 fft_ifftn
  fft_ifftshift fft_ihfft fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftn fill fix
  flatten flip fliplr flipud float_power floor floor_divide fmax fmin fmod frac
  fractional_max_pool2d fractional_max_pool3d frobenius_norm full full_like gather ge gelu ger glu
  greater greater_equal grid_sampler grid_sampler_2d grid_sampler_3d group_norm gru gru_cell gt
  hamming_window hann_window hardshrink hardsigmoid hardswish hardtanh heaviside
  hinge_embedding_loss hsplit hstack huber_loss hypot i0 im2col imag index index_add index_copy
  index_fill index_put index_select inner instance_norm isclose isfinite isin isinf isnan isneginf
  isposinf isreal istft kaiser_window kl_div kron kthvalue l1_loss layer_norm ldexp le leaky_relu
  lerp less less_equal lgamma lift lift_fresh lift_fresh_copy linalg_cholesky linalg_cholesky_ex
  linalg_cross linalg_det linalg_diagonal linalg_eigh linalg_eigvalsh linalg_inv linalg_inv_ex
  linalg_matmul linalg_matrix_exp linalg_matrix_norm linalg_matrix_power linalg_multi_dot
  linalg_norm linalg_pinv linalg_qr linalg_slogdet linalg_solve linalg_solve_ex
  linalg_solve_triangular linalg_svd linalg_svdvals linalg_vander linalg_vecdot linalg_vector_norm
  linear linspace log log10 log1p log2 log_sigmoid log_sigmoid_forward log_softmax logaddexp
  logaddexp2 logcumsumexp logdet logical_and logical_not logical_or logical_xor logit logspace
  logsumexp lstm lstm_cell lt margin_ranking_loss masked_fill masked_scatter matmul matrix_H
  matrix_power max max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d
  max_pool3d_with_indices max_unpool2d max_unpool3d maximum mean median meshgrid mH min minimum mish
  mm mode moveaxis movedim mse_loss mT mul multi_margin_loss multilabel_margin_loss multiply mv
  mvlgamma nan_to_num nanmean nanmedian nansum narrow native_batch_norm native_dropout
  native_group_norm native_layer_norm ne neg negative new_empty new_full new_ones new_zeros nll_loss
  nll_loss2d nll_loss_forward nll_loss_nd norm normal_functional not_equal numpy_T one_hot ones
  ones_like outer pad pairwise_distance pdist permute pinverse pixel_shuffle pixel_unshuffle
  poisson_nll_loss polar polygamma positive pow prelu prod rad2deg rand rand_like randint
  randint_like randn randn_like ravel real reciprocal reflection_pad1d reflection_pad2d
  reflection_pad3d relu relu6 remainder renorm repeat repeat_interleave replication_pad1d
  replication_pad2d replication_pad3d reshape reshape_as resolve_conj resolve_neg rms_norm rnn_relu
  rnn_relu_cell rnn_tanh rnn_tanh_cell roll rot90 round rrelu rsqrt rsub scalar_tensor
  scaled_dot_product_attention scatter scatter_add scatter_reduce searchsorted select select_copy
  select_scatter selu sgn sigmoid sign signbit silu sin sinc sinh slice slice_copy slice_scatter
  slogdet smooth_l1_loss soft_margin_loss softmax softplus softshrink sort special_digamma
  special_entr special_erf special_erfc special_erfcx special_erfinv special_exp2 special_expit
  special_expm1 special_gammaln special_i0 special_i0e special_i1 special_i1e special_log1p
  special_log_ndtr special_log_softmax special_logit special_logsumexp special_multigammaln
  special_ndtr special_ndtri special_polygamma special_psi special_round special_sinc
  special_softmax special_xlog1py special_xlogy split split_with_sizes sqrt square squeeze stack std
  std_mean stft sub subtract sum sum_to_size swapaxes swapdims t take take_along_dim tan tanh
  tensor_split tensordot threshold tile to topk trace transpose trapezoid tril tril_indices
  triplet_margin_loss triu triu_indices true_divide trunc type_as unbind unflatten unfold uniform
  unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_copy upsample_bicubic2d
  upsample_bilinear2d upsample_linear1d upsample_nearest1d upsample_nearest2d upsample_nearest3d
  upsample_trilinear3d vander var var_mean vdot view view_as view_as_complex view_as_real view_copy
  vsplit vstack where xlogy zero zeros zeros_like

  _adaptive_avg_pool2d _adaptive_avg_pool3d __and__ _cast_Double _cast_Float _cast_Half _cast_Int
  _cast_Long _conj _linalg_det _linalg_eigh _linalg_slogdet _linalg_solve_ex _linalg_svd
  _log_softmax __lshift__ _native_batch_norm_legit _native_batch_norm_legit_functional
  _native_batch_norm_legit_no_training __or__ _pdist_forward _reshape_alias __rshift__ _softmax
  _to_copy _trilinear _unsafe_index _unsafe_masked_index _unsafe_view _upsample_bicubic2d_aa
  _upsample_bilinear2d_aa _upsample_nearest_exact1d _upsample_nearest_exact2d
  _upsample_nearest_exact3d _weight_norm _weight_norm_interface __xor__
)";

constexpr const char* kChecks = R"(
  _assert_scalar _assert_tensor_metadata _functional_assert_scalar sym_constrain_range
  sym_constrain_range_for_size _assert_async
)";

constexpr const char* kHeavy = R"(
  conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution linear
  matmul mm bmm addmm baddbmm addbmm einsum bilinear linalg_matmul linalg_multi_dot chain_matmul
  lstm gru rnn_relu rnn_tanh scaled_dot_product_attention embedding embedding_bag cdist
)";

std::set<std::string, std::less<>> words_of(const char* text) {
  std::istringstream stream(text);
  std::set<std::string, std::less<>> words;
  for (std::string word; stream >> word;) words.insert(word);
  return words;
}

constexpr std::string_view kFamily = "aten::";

bool is_one_of(std::string_view op, const std::set<std::string, std::less<>>& words) {
  return op.starts_with(kFamily) && words.contains(plain_name(op));
}

}  // namespace

std::string plain_name(std::string_view op) {
  if (op.starts_with(kFamily)) op.remove_prefix(kFamily.size());
  // "__and__" is no operator that works in place.
  if (op.ends_with('_') && !op.ends_with("__")) op.remove_suffix(1);
  return std::string(op);
}

bool is_allowed(std::string_view op) {
  static const auto words = words_of(kAllowed);
  return is_one_of(op, words);
}

bool only_checks(std::string_view op) {
  static const auto words = words_of(kChecks);
  return is_one_of(op, words);
}

bool is_heavy(std::string_view op) {
  static const auto words = words_of(kHeavy);
  return is_one_of(op, words);
}

}  // namespace pipedream::imported
