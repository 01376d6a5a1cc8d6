# Shared by the scripts here. Source it; it changes to the root of the project.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly torch_version=2.11.0
readonly cmake_minimum=3.25
readonly venv=.venv
# Written once everything of torch was installed and checked.
readonly torch_mark=$venv/torch-$torch_version.complete

say() { printf 'lengthwise: %s\n' "$*"; }
die() {
  printf 'lengthwise: %s\n' "$*" >&2
  exit 2
}

have() { command -v "$1" >/dev/null 2>&1; }

# at_least HAVE WANT: is the version HAVE no older than WANT?
at_least() { [[ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" == "$2" ]]; }

# The first cmake that is new enough: the system's, or the one tools/bootstrap put into the virtual environment.
find_cmake() {
  local candidate version
  for candidate in cmake "$venv/bin/cmake"; do
    version=$("$candidate" --version 2>/dev/null | sed -n '1s/.*version \([0-9.]*\).*/\1/p') || continue
    if [[ -n $version ]] && at_least "$version" "$cmake_minimum"; then
      echo "$candidate"
      return 0
    fi
  done
  return 1
}

# The folder of a Python's torch package. Never imports it: that takes seconds, and fails without the CUDA packages.
torch_of() {
  "$1" -c 'import importlib.util as u; s = u.find_spec("torch"); print(s.submodule_search_locations[0] if s else "")' \
    2>/dev/null || true
}

version_of_torch() { sed -n "s/^__version__ = '\([^']*\)'.*/\1/p" "$1/version.py" 2>/dev/null || true; }

# The torch to build with: that of TORCH_PYTHON, of the active virtual environment, or our own, in this order
# (cmake/torch_wheel.cmake asks in the same order). Prints nothing when there is none yet.
find_torch() {
  local folder
  if [[ -n ${TORCH_PYTHON:-} ]]; then
    folder=$(torch_of "$TORCH_PYTHON")
    [[ -n $folder ]] || die "TORCH_PYTHON=$TORCH_PYTHON has no torch; install torch $torch_version there, or unset it"
    echo "$folder"
    return
  fi
  if [[ -n ${VIRTUAL_ENV:-} && ! $VIRTUAL_ENV -ef $venv ]]; then
    folder=$(torch_of "$VIRTUAL_ENV/bin/python3")
    if [[ -n $folder ]] && at_least "$(version_of_torch "$folder")" "$torch_version"; then
      echo "$folder"
      return
    fi
  fi
  if [[ -f $torch_mark ]]; then torch_of "$PWD/$venv/bin/python3"; fi
}

# How many compilers at once: one per core, but a source that includes torch takes up to 1.5 GB.
parallel_jobs() {
  local cores memory
  cores=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)  # nproc takes them for the number of cores
  memory=$(awk '/MemTotal/ {print int($2 / 2000000)}' /proc/meminfo)
  echo $((memory < 1 ? 1 : memory < cores ? memory : cores))
}
