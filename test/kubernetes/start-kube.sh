#!/usr/bin/env bash
# The API of a Kubernetes cluster and nothing behind it: etcd and kube-apiserver on ports of loopback that were free. No pod ever runs.
#
#   start-kube.sh build              gets both programs, once for all folders: minutes of work for the processors
#   start-kube.sh up FOLDER [PID]    starts them, and ends when the API answers; what it stores and who may ask is in FOLDER.
#                                    When the process PID has ended, both end too.
#   start-kube.sh save FOLDER        keeps a copy of what is stored; both stand still meanwhile
#   start-kube.sh back FOLDER        puts all of it back to that copy, as whoever restores etcd does
#   start-kube.sh down FOLDER        ends what was started in FOLDER
#
# FOLDER/env says where the API is, FOLDER/kubeconfig is for kubectl and helm. Needs apt-get, curl, go, openssl and python3.
set -euo pipefail

version=1.34.4 # of k8s.io/kubernetes
cache=${XDG_CACHE_HOME:-$HOME/.cache}/pipewright-test/kube
etcd=$cache/etcd
apiserver=$cache/kube-apiserver-$version
self=$(realpath "$0")

build() {
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock 9 # another test may be at it
  [ -x "$etcd" ] || get_etcd
  [ -x "$apiserver" ] || build_apiserver
  exec 9>&-
}

get_etcd() { # out of Debian's package, which is not installed: that would start a service
  local scratch
  scratch=$(mktemp -d)
  (cd "$scratch" && apt-get download -qq etcd-server && dpkg --extract etcd-server_*.deb .)
  install -m 755 "$scratch/usr/bin/etcd" "$etcd"
  rm -r "$scratch"
}

build_apiserver() {
  local module=$cache/src-$version from
  mkdir -p "$module"
  cd "$module"
  export GOFLAGS='-mod=mod -buildvcs=false' CGO_ENABLED=0
  echo 'module kube' >go.mod
  from=$(go mod download -json "k8s.io/kubernetes@v$version" | python3 -c 'import json, sys; print(json.load(sys.stdin)["GoMod"])')
  { # Kubernetes has its own parts beside it, and asks for them at v0.0.0; they are published as v0.34.4.
    echo 'module kube'
    grep -E '^(go|godebug default)' "$from"
    echo "require k8s.io/kubernetes v$version"
    sed -nE "s|^[[:space:]]*(k8s.io/[a-z0-9-]+) v0\.0\.0\$|replace \1 => \1 v0.${version#1.}|p" "$from"
  } >go.mod
  nice go build -trimpath -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v$version" \
    -o "$apiserver.new" k8s.io/kubernetes/cmd/kube-apiserver
  mv "$apiserver.new" "$apiserver"
}

key() { openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }

make_identities() { # an authority, the certificate of the API, the key of service accounts, and a token that may do everything
  key ca.key
  openssl req -x509 -new -key ca.key -days 30 -subj /CN=kube-test -out ca.crt
  key server.key
  openssl req -x509 -new -key server.key -CA ca.crt -CAkey ca.key -days 30 -subj /CN=kube-apiserver -out server.crt \
    -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE
  openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out accounts.key
  openssl pkey -in accounts.key -pubout -out accounts.pub
  echo "$(openssl rand -hex 24),admin,admin,system:masters" >tokens.csv
}

free_ports() { # so many, all at once, so that no two are the same
  python3 - "$1" <<'PYTHON'
import socket, sys
taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*[one.getsockname()[1] for one in taken])
PYTHON
}

launch() { # launch NAME COMMAND…: a group of processes of its own
  local name=$1
  shift
  printf '%s\0' "$@" >"$name.command"
  setsid "$@" >"$name.log" 2>&1 </dev/null &
  echo $! >"$name.pid"
}

runs() { # runs NAME: whether it does, and is the one that was started here: a number may be another process's by now
  [ -f "$1.pid" ] && [ "/proc/$(cat "$1.pid")/cwd" -ef . ]
}

answers() { # answers NAME CURL-ARGUMENT…: waits until it does; fails when NAME has ended, or after two minutes
  local name=$1 end=$((SECONDS + 120))
  shift
  until curl --silent --fail --output /dev/null --max-time 5 "$@"; do
    if ! runs "$name" || [ "$SECONDS" -gt "$end" ]; then
      return 1
    fi
    sleep 0.1
  done
}

start() {
  local store peers port token ask
  read -r store peers port < <(free_ports 3)
  token=$(cut -d, -f1 tokens.csv)
  launch etcd "$etcd" --data-dir store --unsafe-no-fsync --log-level warn \
    --listen-client-urls "http://127.0.0.1:$store" --advertise-client-urls "http://127.0.0.1:$store" \
    --listen-peer-urls "http://127.0.0.1:$peers" --initial-advertise-peer-urls "http://127.0.0.1:$peers" \
    --initial-cluster "default=http://127.0.0.1:$peers"
  answers etcd "http://127.0.0.1:$store/health" || return 1
  # Without a controller no service account has a token by itself: the plugin would wait for it.
  launch apiserver "$apiserver" --etcd-servers "http://127.0.0.1:$store" \
    --bind-address 127.0.0.1 --secure-port "$port" --endpoint-reconciler-type none --cert-dir . \
    --tls-cert-file server.crt --tls-private-key-file server.key \
    --authorization-mode RBAC --anonymous-auth=false --token-auth-file tokens.csv --disable-admission-plugins ServiceAccount \
    --service-account-issuer https://kubernetes.default.svc --service-account-key-file accounts.pub \
    --service-account-signing-key-file accounts.key --service-cluster-ip-range 10.0.0.0/24
  ask=(--cacert ca.crt --header "Authorization: Bearer $token")
  answers apiserver "${ask[@]}" "https://127.0.0.1:$port/readyz" || return 1
  answers apiserver "${ask[@]}" "https://127.0.0.1:$port/api/v1/namespaces/default" || return 1
  printf '%s\n' "KUBE_SERVER=https://127.0.0.1:$port" "KUBE_CA=$PWD/ca.crt" "KUBE_TOKEN=$token" "KUBECONFIG=$PWD/kubeconfig" >./env
  cat >kubeconfig <<YAML
apiVersion: v1
kind: Config
current-context: test
clusters: [{ name: test, cluster: { server: 'https://127.0.0.1:$port', certificate-authority: '$PWD/ca.crt' } }]
users: [{ name: admin, user: { token: $token } }]
contexts: [{ name: test, context: { cluster: test, user: admin, namespace: default } }]
YAML
}

up() { # up FOLDER [PID]
  umask 077
  mkdir -p "$1"
  cd "$1"
  if runs etcd && runs apiserver; then return; fi
  [ -f tokens.csv ] || make_identities 2>openssl.log || { cat openssl.log >&2; exit 1; }
  local try
  for try in 1 2 3; do # somebody else may have taken a port meanwhile
    down "$PWD"
    if start; then
      if [ $# -gt 1 ]; then launch watch "$self" watch "$PWD" "$2"; fi
      return
    fi
    echo "try $try:" >&2
    tail -n 5 ./*.log >&2
  done
  down "$PWD"
  exit 1
}

end() { # end NAME: at once; what was written is in the files of etcd
  if runs "$1"; then
    kill -KILL -- "-$(cat "$1.pid")"
    while runs "$1"; do sleep 0.1; done
  fi
}

resume() { # resume NAME: as it was started, at the same address
  local command
  mapfile -d '' command <"$1.command"
  launch "$1" "${command[@]}"
}

again() {
  resume apiserver
  # shellcheck source=/dev/null
  . ./env
  answers apiserver --cacert ca.crt --header "Authorization: Bearer $KUBE_TOKEN" "$KUBE_SERVER/readyz"
}

stored() { # stored FROM TO: copies what is stored
  end apiserver
  end etcd
  rm -rf "$2"
  cp -a "$1" "$2"
  resume etcd
  again
}

down() { # down FOLDER
  [ -d "$1" ] || return 0
  cd "$1"
  local name
  for name in watch apiserver etcd; do
    # Whoever still watches may be who calls this.
    if [ -f "$name.pid" ] && [ "$(cat "$name.pid")" != $$ ]; then end "$name"; fi
    rm -f "$name.pid"
  done
}

case ${1-}:$# in
  build:1) build ;;
  up:[23])
    build
    up "${@:2}"
    ;;
  save:2) cd "$2" && stored store saved ;;
  back:2) cd "$2" && stored saved store ;;
  down:2) down "$2" ;;
  watch:3) # of `up`
    tail --pid="$3" --follow /dev/null
    down "$2"
    ;;
  *)
    sed -n '2,14s/^# \{0,1\}//p' "$self" >&2
    exit 2
    ;;
esac
