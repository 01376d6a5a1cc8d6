# Installing Debian packages. Source it after common.sh.

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
