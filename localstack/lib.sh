# Settings and helpers of localstack/* and tests/*; sourced, never run.
# shellcheck shell=bash disable=SC2034

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# ---- Settings: any of them can be set by the caller, so that two checkouts run side by side ----
: "${ONSALE_STATE:=$ROOT/.localstack}"       # logs, process ids, the built stack, its outputs
: "${ONSALE_TOOLS:=$ROOT/.localstack/tools}" # what was installed; may be shared between states
: "${ONSALE_PORT:=4566}"
: "${ONSALE_REDIS_PORT:=6399}"
: "${ONSALE_HOLD_SECONDS:=600}"
: "${ONSALE_PERSISTENCE_TIMEOUT_SECONDS:=5}"
: "${ONSALE_LOG_LEVEL:=info}"
: "${ONSALE_ENVIRONMENTS:=8}" # processes of one function at most, whatever the rush
# Emulator and Redis that run already, as people with Docker have them (compose.yaml).
: "${ONSALE_ENDPOINT:=}"
: "${ONSALE_REDIS_URL:=}"
: "${ONSALE_FUNCTION_REDIS_URL:=$ONSALE_REDIS_URL}" # the same Redis, as functions reach it

mkdir -p "$ONSALE_STATE" "$ONSALE_TOOLS"
ONSALE_STATE=$(cd "$ONSALE_STATE" && pwd)
ONSALE_TOOLS=$(cd "$ONSALE_TOOLS" && pwd)

OWN_PARTS=true
if [[ -n $ONSALE_ENDPOINT ]]; then
  OWN_PARTS=false
fi
ENDPOINT=${ONSALE_ENDPOINT:-http://127.0.0.1:$ONSALE_PORT}
REDIS_URL=${ONSALE_REDIS_URL:-redis://127.0.0.1:$ONSALE_REDIS_PORT}
FUNCTION_REDIS_URL=${ONSALE_FUNCTION_REDIS_URL:-$REDIS_URL}

say() { printf '%s\n' "$*" >&2; }
die() {
  say "$(basename "$0"): $*"
  exit 1
}

# Two ports that nobody has: for a stack that stands beside others. Below those that outgoing
# connections are given, as one of them could take the port until the stack listens there.
free_ports() {
  python3 -c 'import random, socket
free = []
for port in random.sample(range(20000, 32000), 1000):
    try:
        free.append(socket.create_server(("127.0.0.1", port)))
    except OSError:
        continue
    if len(free) == 2:
        break
print(*(s.getsockname()[1] for s in free))'
}

# This machine's processor, as template.yaml names it.
architecture() {
  case $(uname -m) in
    aarch64 | arm64) echo arm64 ;;
    *) echo x86_64 ;;
  esac
}

# ---- What must be on the machine ----

# has COMMAND: it is there and it runs (a rustup shim without a toolchain is there, but doesn't).
has() { "$1" --version >/dev/null 2>&1; }

# system_packages PACKAGE...: installs packages of a Debian-like system; says what to do elsewhere.
system_packages() {
  command -v apt-get >/dev/null || die "please install: $*"
  local sudo=()
  if [[ $(id -u) != 0 ]]; then
    sudo -n true 2>/dev/null || die "please run: sudo apt-get install $*"
    sudo=(sudo)
  fi
  say "Installing $* (system packages)"
  {
    "${sudo[@]}" apt-get update -q
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
  } >"$ONSALE_STATE/apt.log" 2>&1 || die "apt-get failed, see $ONSALE_STATE/apt.log"
}

need_system() {
  local missing=()
  has cc && has make && has strip || missing+=(build-essential)
  has curl || missing+=(curl ca-certificates)
  python3 -c 'import ensurepip, sys; assert sys.version_info >= (3, 10)' 2>/dev/null ||
    missing+=(python3 python3-venv)
  has redis-server || has valkey-server || missing+=(redis-server)
  [[ ${#missing[@]} == 0 ]] || system_packages "${missing[@]}"
}

# A fresh HOME or a login shell with a bare PATH hides a toolchain that the user has.
need_cargo() {
  local home
  for home in "" "$HOME" "$(getent passwd "$(id -u)" | cut -d: -f6)"; do
    if [[ -n $home ]]; then
      [[ -x $home/.cargo/bin/cargo ]] || continue
      export PATH=$home/.cargo/bin:$PATH
      [[ -d $HOME/.rustup ]] || export RUSTUP_HOME=${RUSTUP_HOME:-$home/.rustup}
      [[ -d $HOME/.cargo ]] || export CARGO_HOME=${CARGO_HOME:-$home/.cargo}
    fi
    if has cargo; then
      return
    fi
  done
  say "Installing Rust (rustup, into $HOME/.cargo)"
  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs |
    sh -s -- -y -q --profile minimal --component clippy,rustfmt --no-modify-path ||
    die "Rust could not be installed: see https://rustup.rs"
  export PATH=$HOME/.cargo/bin:$PATH
}

# need_venv NAME FILE: a virtual environment with exactly the packages of FILE.
need_venv() {
  local venv=$ONSALE_TOOLS/$1
  cmp -s "$2" "$venv/requirements.txt" && return
  say "Installing $1 (Python packages, into ${venv#"$ROOT/"})"
  rm -rf "$venv"
  {
    python3 -m venv "$venv" && "$venv/bin/pip" install --disable-pip-version-check -r "$2"
  } >"$ONSALE_STATE/pip-$1.log" 2>&1 || die "pip failed, see $ONSALE_STATE/pip-$1.log"
  cp "$2" "$venv/requirements.txt"
}

# ---- Processes: found again by id and start time, so that a reused id is never taken for ours ----

started_at() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }

# start NAME COMMAND...: in a process group of its own, with its log beside its id. It keeps nothing of
# the caller's open: whoever waits for the end of a pipe would wait for as long as it runs.
start() {
  local name=$1
  shift
  # shellcheck disable=SC2016
  setsid bash -c '
    for open in "/proc/$$/fd"/*; do
      ((${open##*/} <= 2)) || eval "exec ${open##*/}>&-"
    done
    echo $$ >"$0"
    exec "$@"' "$ONSALE_STATE/$name.pid" "$@" >"$ONSALE_STATE/$name.log" 2>&1 </dev/null &
  local tries=0 pid=
  until pid=$(cat "$ONSALE_STATE/$name.pid" 2>/dev/null) && [[ -n $pid ]]; do
    ((tries++ < 100)) || die "$name did not start, see $ONSALE_STATE/$name.log"
    sleep 0.02
  done
  echo "$pid $(started_at "$pid")" >"$ONSALE_STATE/$name.pid"
}

# running NAME: prints the id if the process that `start` started still runs.
running() {
  local pid begun
  read -r pid begun 2>/dev/null <"$ONSALE_STATE/$1.pid" || return 1
  [[ -n $begun && $(started_at "$pid") == "$begun" ]] && echo "$pid"
}

# stop NAME: the process and its children.
stop() {
  local pid tries=0
  if pid=$(running "$1"); then
    kill -TERM -- "-$pid" 2>/dev/null || true
    while kill -0 -- "-$pid" 2>/dev/null && ((tries++ < 100)); do
      sleep 0.1
    done
    kill -KILL -- "-$pid" 2>/dev/null || true
  fi
  rm -f "$ONSALE_STATE/$1.pid"
}

# answers PORT: something listens there.
answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# await_port NAME PORT: until the process listens; its log if it ends instead.
await_port() {
  local tries=0
  until answers "$2"; do
    if ! running "$1" >/dev/null || ((tries++ > 300)); then
      tail -5 "$ONSALE_STATE/$1.log" >&2
      die "$1 did not come up, see $ONSALE_STATE/$1.log"
    fi
    sleep 0.1
  done
}

# Everything that talks to the emulator, and nothing that could reach a real account.
emulator_env() {
  env -u AWS_PROFILE -u AWS_SESSION_TOKEN -u AWS_CA_BUNDLE \
    AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null AWS_EC2_METADATA_DISABLED=true \
    AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_DEFAULT_REGION=us-east-1 \
    AWS_ENDPOINT_URL="$ENDPOINT" SAM_CLI_TELEMETRY=0 "$@"
}

print_urls() {
  sed -n -e 's/^HTTP_URL=/HTTP       /p' -e 's/^WS_URL=/WebSocket  /p' "$ONSALE_STATE/outputs.env"
  echo "Redis      $REDIS_URL"
  echo "All else   ${ONSALE_STATE#"$PWD/"}/outputs.env (and .json)"
}
