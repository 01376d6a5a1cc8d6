# Installing what others have packaged. Source it after common.sh.

may_become_root() { [[ $(id -u) == 0 ]] || { have sudo && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; }; }
as_root() { if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi; }

apt_is_fresh=no
apt_install() {
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0)
  local install=("${apt[@]}" install --no-install-recommends "$@")
  if [[ $apt_is_fresh == no ]]; then
    if apt-cache show "$@" >/dev/null 2>&1 && as_root "${install[@]}"; then return; fi
    as_root "${apt[@]}" update || return 1
    apt_is_fresh=yes
  fi
  as_root "${install[@]}"
}

# Ubuntu 22.04 has no package of toml++; its headers come with the source package of 24.04.
readonly toml_url=http://archive.ubuntu.com/ubuntu/pool/universe/t/tomlplusplus/tomlplusplus_3.4.0+ds.orig.tar.xz
readonly toml_sha256=0ae736e13a49cc8a0aa7799705cf18bd93f5f56624613e6aa554b65fe2d72768
fetch_toml() { python3 tools/fetch_headers.py "$toml_url" "$toml_sha256" toml++ .deps/include; }
