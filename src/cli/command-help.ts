interface CommandHelp {
  /** Command lines without the program's name. */
  readonly examples: readonly string[]
  /** By exit code, from 0. All commands share 64 (usage error) and 70 (internal error). */
  readonly exits: readonly string[]
}

export const COMMAND_HELP: Readonly<Record<string, CommandHelp>> = {
  run: {
    examples: ['run --base-url https://api.example.com', 'run --sandbox --log-format pretty'],
    exits: ['stopped', 'cannot start, or the stop interrupted a request'],
  },
  plan: {
    examples: ['plan -o markdown', 'plan --server http://127.0.0.1:8080 --admin-token-file token'],
    exits: ['no changes', 'an action fails or is refused', 'changes are pending'],
  },
  apply: {
    examples: ['apply --wait --timeout 5m', 'apply --yes --max-creates 100'],
    exits: ['no resource needs attention', 'a resource needs attention, or is not ready yet (with --wait)'],
  },
  reconcile: {
    examples: ['reconcile Pipe/orders --wait --timeout 2m', 'reconcile --accept --wait'],
    exits: [
      'accepted (with --wait: done, and no resource needs attention)',
      'refused, or something needs attention',
    ],
  },
  validate: {
    examples: ['validate', 'validate manifests/orders.yaml -o compact'],
    exits: ['no errors', 'errors were found'],
  },
  status: {
    examples: ['status --status Drifted,Failed', 'status Pipe/orders --server http://127.0.0.1:8080'],
    exits: ['no resource needs attention', 'a resource needs attention, or the daemon died'],
  },
  history: {
    examples: ['history --since 2h', 'history Pipe/orders -o wide'],
    exits: ['done', 'the ledger, or the server, cannot be read'],
  },
  allow: {
    examples: ['allow --dry-run', 'allow --service analytics'],
    exits: ['done', 'the ledger or the daemon cannot be reached'],
  },
  adopt: {
    examples: ['adopt Pipe/orders 9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d', 'adopt Pipe/orders ID -o json'],
    exits: ['done', 'refused'],
  },
  resolve: {
    examples: [
      'resolve Pipe/orders --adopt 9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d',
      'resolve Pipe/orders --retry',
    ],
    exits: ['done', 'refused'],
  },
  suspend: {
    examples: ['suspend Pipe/orders --reason "migration of the topic" --for 2d'],
    exits: ['done', 'refused'],
  },
  resume: { examples: ['resume Pipe/orders'], exits: ['done', 'refused'] },
  forget: { examples: ['forget Pipe/orders', 'forget --platform'], exits: ['done', 'refused'] },
  lock: {
    examples: ['lock > manifests/pipes.lock.yaml', 'lock -o json'],
    exits: ['done', 'a key is left out'],
  },
  ledger: {
    examples: [
      'ledger export ledger.ndjson',
      'ledger export ledger.ndjson --move',
      'ledger import ledger.ndjson --ledger kubernetes:pipewright',
      'ledger accept --ledger kubernetes:pipewright',
    ],
    exits: ['done', 'no such ledger, or a ledger where to import'],
  },
  import: {
    examples: [
      'import Pipe/orders ID --service analytics --output-dir manifests',
      'import --all analytics --output-dir manifests',
    ],
    exits: ['done', 'a pipe or a service cannot be read, or a manifest cannot be written'],
  },
  explain: {
    examples: ['explain pipe.spec.source.kafka', 'explain pipe.policy.onMissing -o json'],
    exits: ['done'],
  },
  schema: { examples: ['schema > manifest.schema.json', 'schema Pipe'], exits: ['done'] },
  sandbox: { examples: ['sandbox', 'sandbox --data sandbox.db --faults faults.yaml'], exits: ['stopped'] },
  version: { examples: ['version'], exits: ['done'] },
}
