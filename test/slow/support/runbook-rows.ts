/** How a command of the runbook ends. */
export interface Ends {
  /** `KEY` in it; Pipe/orders unless set. */
  readonly key?: string
  /** 0 unless set. */
  readonly code?: 0 | 1 | 2
  /** On standard output, or on standard error. */
  readonly says: RegExp
}

type Rows = Readonly<Record<string, Ends>>

const ORDERS = /Pipe\/orders/
const LEDGER = /ledger\.db/

/** In the pod, beside the daemon; in this order. */
export const BESIDE: Rows = {
  'kubectl exec POD -- pipewright status': { code: 1, says: ORDERS },
  'pipewright status': { code: 1, says: ORDERS },
  'pipewright status KEY': { key: 'Pipe/stuck', code: 1, says: /pipewright resolve Pipe\/stuck --adopt/ },
  'pipewright status Pipe/orders': { says: /Ready/ },
  'pipewright status Pipe/other': { says: /Ready/ },
  'pipewright status Service/NAME': { says: /InSync/ },
  'pipewright history': { says: ORDERS },
  'pipewright history KEY': { says: /created/i },
  'pipewright history Pipe/orders': { says: /created/i },
  'pipewright validate': { says: /no findings/ },
  'pipewright plan': { code: 1, says: /Pipe\/stuck/ },
  'pipewright lock': { code: 1, says: /Pipe\/stuck is not in the Lock/ },
  'pipewright adopt KEY ID': { says: ORDERS },
  'pipewright resolve KEY --adopt ID': { key: 'Pipe/stuck', says: /Linked Pipe\/stuck to pipe/ },
  'pipewright resolve KEY --retry': { key: 'Pipe/lost', code: 1, says: /run this command again/ },
  'pipewright resolve KEY --recreate': { key: 'Pipe/gone', says: /is gone, as the operator confirmed/ },
  'pipewright forget KEY': { key: 'Pipe/removed', says: /Pipe\/removed/ },
  'pipewright forget Pipe/old': { says: /Pipe\/old/ },
  'pipewright allow --dry-run': { says: /blocks no resource now/ },
  'pipewright allow --service NAME': { says: /blocks no resource now in service analytics/ },
  'pipewright allow': { says: /blocks no resource now/ },
  'pipewright allow --deletions --dry-run': { says: /limit on deletions blocks no resource now/ },
  'pipewright allow --deletions --service NAME': { says: /blocks no resource now in service analytics/ },
  'pipewright suspend KEY': { says: /^Suspended Pipe\/orders until / },
  'pipewright resume KEY': { says: /^Resumed Pipe\/orders\.$/m },
  'pipewright reconcile KEY': { says: /requested/ },
  'pipewright reconcile --wait': { code: 1, says: ORDERS },
  'pipewright reconcile --accept': { says: /requested/ },
  'kubectl exec POD -- node -e "process.kill(1, \'SIGHUP\')"': { says: /^$/ },
  'kubectl exec POD -- node -e "fetch(\'URL\').then(r => console.log(r.status), console.log)"': {
    says: /^404/,
  },
  'kubectl exec POD -- df -h /var/lib/pipewright': { says: /\/var\/lib\/pipewright/ },
  'kubectl exec POD -- df -i /var/lib/pipewright': { says: /\/var\/lib\/pipewright/ },
  'kubectl exec POD -- ls /git/current/': { says: /^ingestion$/m },
  'kubectl exec POD -- ls -laL /git /git/current': { says: /ingestion/ },
  'kubectl exec POD -- ls -lLR /etc/pipewright': { says: /keySecret/ },
  'kubectl exec POD -- ls -l /proc/1/fd': { says: /socket:/ },
  'kubectl exec POD -- grep State /proc/1/status': { says: /^State:\s+[SR]/ },
  'kubectl exec POD -- grep pipewright /proc/mounts': { says: /\/var\/lib\/pipewright \w+ rw/ },
  'kubectl exec POD -- ls -la /var/lib/pipewright': { says: LEDGER },
  'kubectl exec POD -- ls -li /var/lib/pipewright': { says: LEDGER },
}

const IN_PLACE =
  'kubectl -n data exec pipewright-0 -- sh -c \'cd /var/lib/pipewright; if grep -q pipewright.js /proc/1/cmdline; then echo "a daemon runs here" >&2; exit 1; fi; '

const ASIDE =
  'for file in ledger.db ledger.db-journal; do if [ -e $file ]; then mv --backup=numbered $file $file.'

const RESTORE = `${IN_PLACE}ls restored.db || exit 1; ${ASIDE}before; fi; done; mv restored.db ledger.db'`

/** In the same pod, in diagnostic mode; in this order, each going on from where the one before ended. */
export const WITHOUT_A_DAEMON: Rows = {
  'pipewright forget --platform': { says: /no longer belongs to http/ },
  'pipewright apply --yes': { says: ORDERS },
  'pipewright plan --ledger sqlite:/tmp/none.db': { code: 2, says: /2 to adopt/ },
  [`${IN_PLACE}${ASIDE}damaged; fi; done'`]: { says: /^$/ },
  'kubectl -n data exec pipewright-0 -- pipewright plan': {
    code: 2,
    says: /^There is no ledger at \/var\/lib\/pipewright\/ledger\.db\.[^]*2 to adopt/,
  },
  'pipewright apply --ledger-init=auto --max-creates=0': { says: ORDERS },
  "kubectl -n data exec -i pipewright-0 -- sh -c 'cat > /var/lib/pipewright/restored.db' < ledger-2026-11-20.db":
    { says: /^$/ },
  'kubectl -n data exec pipewright-0 -- pipewright status --ledger sqlite:/var/lib/pipewright/restored.db': {
    says: /Pipe\/refunds/,
  },
  [RESTORE]: { says: /^restored\.db$/m },
}

/** Not for the pod: for a checkout, a node, or the cluster. */
export const OUTSIDE: readonly string[] = [
  'docker exec NAME pipewright status',
  'npx pipewright status',
  'kill -HUP PID',
  'ulimit -n',
  'sysctl -w fs.inotify.max_user_instances=1024',
  'git log --diff-filter=D -- FILE',
  'git log --stat -1',
  'git revert',
  'helm upgrade pipewright ./helm --namespace data --values values.yaml',
  'helm upgrade pipewright ./helm --namespace data --values values.yaml --set diagnosticMode=true',
  'kubectl get pod POD -o wide',
  'kubectl get node NODE',
  'kubectl describe pod POD',
  'kubectl logs POD --previous',
  'kubectl logs POD -c git-sync',
  'kubectl logs POD -c pipewright',
  'kubectl -n data rollout status statefulset/pipewright',
  'kubectl delete pod POD --force --grace-period=0',
  'kubectl delete node NODE',
  'kubectl taint nodes NODE node.kubernetes.io/out-of-service=nodeshutdown:NoExecute',
  'kubectl taint nodes NODE node.kubernetes.io/out-of-service=nodeshutdown:NoExecute-',
  'kubectl apply --filename docs/ledger-pod.yaml',
  'kubectl -n data get pvc',
  'kubectl -n data delete pvc ledger-pipewright-0',
  'kubectl -n data delete pod pipewright-0',
  'kubectl -n data delete pod pipewright-ledger',
  'kubectl -n data scale statefulset/pipewright --replicas=0',
  'kubectl -n data scale statefulset/pipewright --replicas=1',
]

/** About a ledger in the cluster: run in `runbook-cluster.test.ts`, in this order, at a real API. */
export const IN_CLUSTER = {
  look: [
    'kubectl get --raw /readyz',
    'kubectl -n data get pods -o wide',
    'kubectl -n data get lease pipewright',
    'kubectl -n data get lease pipewright --output=yaml',
    'kubectl -n data get secret pipewright',
    'kubectl get crd pipewrightrecords.pipewright.dev',
    'kubectl -n data get pipewrightrecords --selector pipewright.dev/ledger=pipewright',
    'kubectl auth can-i update leases/pipewright -n data --as=system:serviceaccount:data:pipewright',
  ],
  stop: 'kubectl -n data scale deployment/pipewright --replicas=0',
  definition: 'kubectl apply --server-side --filename helm/crds',
  restore: [
    'kubectl -n data get secret pipewright --output=yaml > secret-before.yaml',
    'kubectl -n data delete pipewrightrecords --selector pipewright.dev/ledger=pipewright',
    'kubectl -n data delete secret pipewright',
    "kubectl -n data exec -i deployment/pipewright -- sh -c 'cat > ledger.ndjson && pipewright ledger import ledger.ndjson' < ledger-2026-11-20.ndjson",
  ],
  plan: 'kubectl -n data exec deployment/pipewright -- pipewright plan',
  records: 'kubectl -n data create --filename records.yaml',
  secret: 'kubectl -n data create --filename secret.yaml',
  accept: 'pipewright ledger accept',
} as const
