import type { CommandHelp } from './help.ts'

/** The commands as the help of the program shows them. */
export const COMMAND_GROUPS: readonly (readonly [string, readonly string[]])[] = [
  ['Reconcile', ['run', 'plan', 'apply', 'reconcile']],
  ['Look', ['validate', 'status', 'history']],
  ['Decide', ['allow', 'adopt', 'resolve', 'forget', 'lock']],
  ['Write manifests', ['import', 'explain', 'schema']],
  ['Try and set up', ['sandbox', 'completion', 'version', 'help']],
]

const FINE = 'done'

/** Examples and exit codes of each command. */
export const COMMAND_HELP: Readonly<Record<string, CommandHelp>> = {
  run: {
    examples: ['run --base-url https://api.example.com', 'run --sandbox --log-format pretty'],
    exits: { 0: 'it was stopped', 1: 'it cannot start, or the stop cut something short' },
  },
  validate: {
    examples: ['validate', 'validate manifests/orders.yaml -o compact'],
    exits: { 0: 'no errors', 1: 'errors were found' },
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
  status: {
    examples: ['status --status Drifted,Failed', 'status Pipe/orders --server http://127.0.0.1:8080'],
    exits: { 0: 'nothing needs attention', 1: 'something does, or the daemon died' },
  },
  history: {
    examples: ['history --since 2h', 'history Pipe/orders -o wide'],
    exits: { 0: FINE, 1: 'the ledger, or the server, cannot be read' },
  },
  allow: {
    examples: ['allow --dry-run', 'allow --service analytics'],
    exits: { 0: FINE, 1: 'the ledger or the daemon cannot be reached' },
  },
  adopt: {
    examples: ['adopt Pipe/orders 9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d', 'adopt Pipe/orders ID -o json'],
    exits: { 0: FINE, 1: 'refused' },
  },
  resolve: {
    examples: [
      'resolve Pipe/orders --adopt 9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d',
      'resolve Pipe/orders --retry',
    ],
    exits: { 0: FINE, 1: 'refused' },
  },
  forget: {
    examples: ['forget Pipe/orders', 'forget --platform'],
    exits: { 0: FINE, 1: 'refused' },
  },
  lock: {
    examples: ['lock > manifests/pipes.lock.yaml', 'lock -o json'],
    exits: { 0: FINE, 1: 'a key is left out' },
  },
  import: {
    examples: [
      'import Pipe/orders ID --service analytics',
      'import Pipe/orders ID --service analytics --file orders.yaml',
    ],
    exits: { 0: FINE, 1: 'there is no such pipe, or it belongs to a manifest already' },
  },
  explain: {
    examples: ['explain pipe.spec.source.kafka', 'explain pipe.policy.onMissing -o json'],
    exits: { 0: FINE },
  },
  schema: {
    examples: ['schema > manifest.schema.json', 'schema Pipe'],
    exits: { 0: FINE },
  },
  sandbox: {
    examples: ['sandbox', 'sandbox --data sandbox.db --faults faults.yaml'],
    exits: { 0: 'it was stopped' },
  },
  completion: {
    examples: ['completion bash > /etc/bash_completion.d/pipewright', 'completion fish | source'],
    exits: { 0: FINE },
  },
  version: { examples: ['version', '--version'], exits: { 0: FINE } },
}
