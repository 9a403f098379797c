import { cell, frozenDaemon, secondIntent, stoppedInTheMiddle } from './attempt-checks.ts'
import type { Patch } from './checkout.ts'
import type { Mutation } from './mutation.ts'

/* What protects a single attempt to create: laws 1 and 2 within design §5. */

const INTENT_WRITE = `const written = await context.ledger.swap(opened, [started])`

const LATER = `
async function swapLater(context: ReconcileContext, opened: LedgerRecord, history: readonly HistoryEntry[]) {
  setTimeout(() => void context.ledger.swap(opened, history).catch(() => undefined), 2_000)
  return { ...opened, version: opened.version + 1 }
}
`

const NO_SECOND_ATTEMPT: Patch = {
  from: `  if (intent?.state === 'open' || intent?.state === 'unknown')\n    throw new IntentRefused(record, \`intent \${intent.id} has`,
  to: `  if (intent?.id === '')\n    throw new IntentRefused(record, \`intent \${intent.id} has`,
}

const NO_REFUSAL: Patch = {
  from: `  const undecided = undecidedIntent(input.recorded)\n`,
  to: `  const undecided = undefined\n`,
}

export const OF_THE_ATTEMPT: readonly Mutation[] = [
  {
    protection: 'an intent is written before the POST',
    patches: [
      {
        from: INTENT_WRITE,
        to: INTENT_WRITE.replace('= await', '= opened ?? await'),
      },
    ],
    checks: [cell({ action: 'kill', at: 'after-request', reply: 'whole' })],
  },
  {
    protection: 'the intent is durable before the POST',
    patches: [
      {
        from: INTENT_WRITE,
        to: INTENT_WRITE.replace('context.ledger.swap(', 'swapLater(context, '),
        below: LATER,
      },
    ],
    checks: [cell({ action: 'kill', at: 'after-request', reply: 'whole' })],
  },
  {
    protection: 'a write of the ledger is exclusive (compare-and-set)',
    patches: [
      {
        from: `  if (version !== seen.version) throw`,
        to: `  if (version < 0) throw`,
      },
    ],
    checks: [frozenDaemon()],
  },
  {
    protection: 'a reset after the request went out has an unknown effect',
    patches: [
      {
        from: `if (seen.type === 'silence') return seen.sent ? 'unknown' : 'none'`,
        to: `if (seen.type === 'silence') return 'none'`,
      },
    ],
    checks: [cell({ action: 'kill', at: 'after-outcome', reply: 'cut after the work' })],
  },
  {
    protection: 'a 500 has an unknown effect',
    patches: [
      {
        from: `'Missing', 'ServiceIdle'])`,
        to: `'Missing', 'ServiceIdle', 'Unavailable'])`,
      },
    ],
    checks: [cell({ action: 'kill', at: 'after-outcome', reply: '500 after the work' })],
  },
  {
    protection: 'a refusal counts only when it is the platform that says so',
    patches: [
      {
        from: `return REFUSED.has(kind) && body.isPlatforms ?`,
        to: `return REFUSED.has(kind) ?`,
      },
    ],
    checks: [cell({ action: 'throw', at: 'after-reply-head', reply: '424' })],
  },
  {
    protection: 'a create ends by its deadline, and not by the stop',
    patches: [
      {
        from: `listOf: (listed) => listOf(listed, service),`,
        to: `listOf: (listed) => listOf(listed, service), signal: readOptions.signal,`,
      },
      {
        from: `{ way, parts, notAfter, onSent`,
        to: `{ way, parts, notAfter, signal: call.signal, onSent`,
      },
      {
        from: `      signal: undefined,\n`,
        to: `      signal: about.signal,\n`,
      },
    ],
    checks: [stoppedInTheMiddle()],
  },
  {
    protection: 'no second attempt while an intent is open: the decision',
    patches: [NO_REFUSAL],
    checks: [cell({ action: 'kill', at: 'after-request', reply: 'whole' })],
  },
  {
    protection: 'no second attempt while an intent is open: the fence behind the decision',
    patches: [NO_SECOND_ATTEMPT],
    checks: [secondIntent()],
  },
  {
    protection: 'no second attempt while an intent is open: both',
    patches: [NO_REFUSAL, NO_SECOND_ATTEMPT],
    checks: [cell({ action: 'kill', at: 'after-request', reply: 'whole' })],
  },
]
