/** What the help and the README say of a command beside its description and its options. */
export interface CommandHelp {
  /** Whole command lines, without the program's name. */
  readonly examples: readonly string[]
  /** By exit code. Every command ends with 64 on a usage error and with 70 on an internal error. */
  readonly exits: Readonly<Record<number, string>>
}

export const COMMAND_HELP: Readonly<Record<string, CommandHelp>> = {
  run: {
    examples: ['run --base-url https://api.example.com', 'run --sandbox --log-format pretty'],
    exits: { 0: 'stopped', 1: 'cannot start, or the stop interrupted a request' },
  },
  plan: {
    examples: ['plan -o markdown', 'plan --server http://127.0.0.1:8080 --admin-token-file token'],
    exits: { 0: 'nothing to do', 1: 'something fails or is refused', 2: 'changes are pending' },
  },
  apply: {
    examples: ['apply --wait --timeout 5m', 'apply --yes --max-creates 100'],
    exits: { 0: 'nothing needs attention', 1: 'something needs attention; with --wait: or is not ready yet' },
  },
  reconcile: {
    examples: ['reconcile Pipe/orders --wait --timeout 2m', 'reconcile --accept --wait'],
    exits: {
      0: 'accepted; with --wait: done, and nothing needs attention',
      1: 'refused, or something needs attention',
    },
  },
  validate: {
    examples: ['validate', 'validate manifests/orders.yaml -o compact'],
    exits: { 0: 'no errors', 1: 'errors were found' },
  },
  status: {
    examples: ['status --status Drifted,Failed', 'status Pipe/orders --server http://127.0.0.1:8080'],
    exits: { 0: 'nothing needs attention', 1: 'something needs attention, or the daemon died' },
  },
  history: {
    examples: ['history --since 2h', 'history Pipe/orders -o wide'],
    exits: { 0: 'done', 1: 'the ledger, or the server, cannot be read' },
  },
  allow: {
    examples: ['allow --dry-run', 'allow --service analytics'],
    exits: { 0: 'done', 1: 'the ledger or the daemon cannot be reached' },
  },
  adopt: {
    examples: ['adopt Pipe/orders 9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d', 'adopt Pipe/orders ID -o json'],
    exits: { 0: 'done', 1: 'refused' },
  },
  resolve: {
    examples: [
      'resolve Pipe/orders --adopt 9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d',
      'resolve Pipe/orders --retry',
    ],
    exits: { 0: 'done', 1: 'refused' },
  },
  forget: {
    examples: ['forget Pipe/orders', 'forget --platform'],
    exits: { 0: 'done', 1: 'refused' },
  },
  lock: {
    examples: ['lock > manifests/pipes.lock.yaml', 'lock -o json'],
    exits: { 0: 'done', 1: 'a key is left out' },
  },
  ledger: {
    examples: [
      'ledger export ledger.ndjson',
      'ledger export ledger.ndjson --move',
      'ledger import ledger.ndjson --ledger kubernetes:pipewright',
      'ledger accept --ledger kubernetes:pipewright',
    ],
    exits: { 0: 'done', 1: 'no such ledger, or a ledger where to import; to accept: pipes are missing' },
  },
  import: {
    examples: [
      'import Pipe/orders ID --service analytics --file orders.yaml',
      'import --all analytics --output-dir manifests',
    ],
    exits: { 0: 'done', 1: 'there is no such pipe, or it belongs to a manifest already' },
  },
  explain: {
    examples: ['explain pipe.spec.source.kafka', 'explain pipe.policy.onMissing -o json'],
    exits: { 0: 'done' },
  },
  schema: {
    examples: ['schema > manifest.schema.json', 'schema Pipe'],
    exits: { 0: 'done' },
  },
  sandbox: {
    examples: ['sandbox', 'sandbox --data sandbox.db --faults faults.yaml'],
    exits: { 0: 'stopped' },
  },
  version: { examples: ['version'], exits: { 0: 'done' } },
}
