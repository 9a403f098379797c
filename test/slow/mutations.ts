import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from '../support/process.ts'
import { until } from '../support/until.ts'
import type { Combination } from './support/combination.ts'
import { experiment } from './support/experiment.ts'
import { broken } from './support/oracle.ts'
import { creates, stopInTheMiddle } from './support/stopping.ts'
import { twoWriters } from './support/two-writers.ts'

/** A change of one place in the source; the place must be there, exactly once. */
interface Patch {
  /** Relative to `src/`. */
  readonly file: string
  readonly from: string
  readonly to: string
}

/** A test that runs the program of a checkout. @returns what it found broken, in words; nothing: it passes */
interface Check {
  readonly name: string
  readonly run: (checkout: Checkout) => Promise<readonly string[]>
}

/** One protection of laws 1 and 2, how it is removed, and the tests of which one at least must notice. */
export interface Mutation {
  readonly protection: string
  readonly patches: readonly Patch[]
  readonly checks: readonly Check[]
}

/** A copy of the sources in which something may be broken. */
export interface Checkout extends Disposable {
  readonly main: string
  readonly dir: string
  /** What Node compiled. */
  readonly cache: string
}

const INTENT_WRITE = `await deps.ledger.swap(opened, [`

const LATER = `
async function swapLater(deps: Deps, opened: LedgerRecord, history: readonly HistoryEntry[]) {
  setTimeout(() => void deps.ledger.swap(opened, history).catch(() => undefined), 2_000)
  return { ...opened, version: opened.version + 1 }
}
`

const OPEN_INTENT_CHECK = `  if (undecided && intent.id !== opening.approved)\n`

const NO_SECOND_ATTEMPT: Patch = {
  file: 'plan/transitions.ts',
  from: OPEN_INTENT_CHECK,
  to: `  if (undecided && intent.id === '')\n`,
}

const NO_REFUSAL: Patch = {
  file: 'plan/decide-pipe.ts',
  from: `  const undecided = undecidedIntent(input.recorded)\n`,
  to: `  const undecided = undefined\n`,
}

export const MUTATIONS: readonly Mutation[] = [
  {
    protection: 'an intent is written before the POST',
    patches: [
      {
        file: 'reconcile/create.ts',
        from: INTENT_WRITE,
        to: `opened ?? ${INTENT_WRITE}`,
      },
    ],
    checks: [cell({ action: 'kill', at: 'after-request', reply: 'whole' })],
  },
  {
    protection: 'the intent is durable before the POST',
    patches: [
      {
        file: 'reconcile/create.ts',
        from: INTENT_WRITE,
        to: INTENT_WRITE.replace('deps.ledger.swap(', 'swapLater(deps, '),
      },
      { file: 'reconcile/create.ts', from: `\ninterface Attempt {`, to: `${LATER}\ninterface Attempt {` },
    ],
    checks: [cell({ action: 'kill', at: 'after-request', reply: 'whole' })],
  },
  {
    protection: 'a write of the ledger is exclusive (compare-and-set)',
    patches: [
      {
        file: 'ledger/ledger.ts',
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
        file: 'platform/classify.ts',
        from: `seen.type === 'silence' && !seen.sent`,
        to: `seen.type === 'silence'`,
      },
    ],
    checks: [cell({ action: 'kill', at: 'after-outcome', reply: 'cut after the work' })],
  },
  {
    protection: 'a 500 has an unknown effect',
    patches: [
      {
        file: 'platform/classify.ts',
        from: `  if (status === 408 || status >= 500) return 'Unavailable'\n`,
        to: `  if (status === 408) return 'Unavailable'\n`,
      },
    ],
    checks: [cell({ action: 'kill', at: 'after-outcome', reply: '500 after the work' })],
  },
  {
    protection: 'a create ends by its deadline, and not by the stop',
    patches: [
      {
        file: 'platform/clients.ts',
        from: `createPermit({ caller, admission, base: target, path }, creating)`,
        to: `createPermit({ caller, admission, base: target, path, signal: readOptions.signal }, creating)`,
      },
      {
        file: 'platform/create-pipe.ts',
        from: `    stop: undefined,\n`,
        to: `    stop: { signal: call.signal, stops: createStops() },\n`,
      },
      {
        file: 'platform/create-pipe.ts',
        from: `import type { Base } from`,
        to: `import { createStops } from './stops.ts'\nimport type { Base } from`,
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

/** A cell of the crash matrix. */
function cell(combination: Combination): Check {
  const { action, at, reply } = combination
  return {
    name: `matrix: ${action} ${at}, the reply: ${reply}`,
    async run({ main, cache }) {
      try {
        const { facts } = await experiment(combination, { main, cache, successor: 'child' })
        return broken(combination, facts)
      } catch (error) {
        // It never becomes quiet.
        return [error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)]
      }
    },
  }
}

function frozenDaemon(): Check {
  return {
    name: 'a daemon that froze before its intent goes on beside another',
    async run({ main }) {
      const { pipes, posts } = await twoWriters({ main })
      return posts === 1 && pipes.length === 1 ? [] : [`law 1: ${pipes.length} pipes, ${posts} creates`]
    },
  }
}

function stoppedInTheMiddle(): Check {
  return {
    name: 'SIGTERM in the middle of a create',
    async run({ main }) {
      const { recorded, pipes, afterwards } = await stopInTheMiddle({
        command: 'run',
        pipes: 1,
        settings: [],
        latencyMs: 1_500,
        main,
        async stop(program, platform) {
          await until('the create to be on its way', () => creates(platform) === 1)
          program.signal('SIGTERM')
        },
      })
      return recorded !== undefined && pipes === 1 ? [] : [`law 2: no id is recorded, ${afterwards.status}`]
    },
  }
}

/** The rule itself, since the decision before it lets nothing come so far. */
function secondIntent(): Check {
  return {
    name: 'openIntent on a record whose intent is open',
    async run({ dir }) {
      const program = `
        const { openIntent } = await import(${JSON.stringify(pathToFileURL(join(dir, 'src/plan/transitions.ts')))})
        const record = { key: 'Pipe/orders', intent: { id: 'first', attempt: 1, state: 'open' } }
        try { openIntent(record, { intentId: 'second' }); console.log('opened') } catch (error) { console.log(error.name) }
      `
      const answer = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
        encoding: 'utf8',
      })
      return answer.trim() === 'IntentRefused' ? [] : [`law 1: a second intent was ${answer.trim()}`]
    },
  }
}

/** A copy of this checkout's sources. @throws when a patch has no place in it, or more than one */
export function copyOf(patches: readonly Patch[]): Checkout {
  const dir = mkdtempSync(join(tmpdir(), 'pipewright-broken-'))
  for (const part of ['src', 'package.json']) cpSync(join(ROOT, part), join(dir, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
  const checkout: Checkout = {
    dir,
    main: join(dir, 'src', 'main.ts'),
    cache: join(dir, 'compiled'),
    [Symbol.dispose]() {
      rmSync(dir, { recursive: true, force: true })
    },
  }
  try {
    for (const patch of patches) applyTo(dir, patch)
    return checkout
  } catch (error) {
    checkout[Symbol.dispose]()
    throw error
  }
}

function applyTo(dir: string, { file, from, to }: Patch): void {
  const path = join(dir, 'src', file)
  const places = readFileSync(path, 'utf8').split(from)
  if (places.length !== 2) {
    throw new Error(
      `${places.length - 1} places in src/${file} read ${JSON.stringify(from)}, and it must be one`,
    )
  }
  writeFileSync(path, places.join(to))
}
