import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { SourceProblem } from '../../src/contract/catalog.ts'
import { DEFAULT_LIMITS } from '../../src/manifest/yaml/limits.ts'
import { readDirectory } from '../../src/manifest/files/read-directory.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { DeletablePolicy } from '../../src/kinds/manifest.ts'
import { isWell, STATUSES } from '../../src/plan/severity.ts'
import { messageOf, REASONS, type Reason } from '../../src/plan/reason.ts'
import { LINES } from '../../src/telemetry/event-table.ts'
import { ALL_METRICS } from '../../src/telemetry/metric-definitions.ts'
import { alertRules } from '../support/alert-rules.ts'
import { pipe } from '../reconcile/manifests.ts'
import { createModelDirectory, createReader } from '../reconcile/model-directory.ts'
import { runHere } from '../support/command.ts'
import { ROOT } from '../support/process.ts'
import { because } from '../plan/inputs.ts'
import { createWorkspace } from '../support/workspace.ts'

/* What the runbook says is held against what the code has: reasons, alerts, commands, settings, metrics, log lines. */

const PAGE = readFileSync(join(ROOT, 'docs/reference/runbook.md'), 'utf8')

/** As GitHub makes an anchor of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

function anchorsIn(markdown: string): ReadonlySet<string> {
  return new Set([...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading)))
}

/** The entries of a chapter: heading → text. */
function entriesOf(chapter: string): ReadonlyMap<string, string> {
  const text = PAGE.split(/^## /m).find((part) => part.startsWith(`${chapter}\n`))
  if (text === undefined) throw new Error(`there is no chapter "${chapter}"`)
  return new Map(
    text
      .split(/^### /m)
      .slice(1)
      .map((entry) => {
        const end = entry.indexOf('\n')
        return [entry.slice(0, end), entry.slice(end).trim()]
      }),
  )
}

/** What stands in backquotes or in a block of code. */
const CODE = [...PAGE.matchAll(/```\w*\n([\s\S]*?)```|`([^`\n]+)`/g)].map(
  ([, block, span = '']) => block ?? span,
)

const ALL = Object.keys(REASONS) as readonly Reason[] // the keys of an object literal
const reasons = entriesOf('Reasons')
const alerts = entriesOf('Alerts')
const source = entriesOf('The source')
const elsewhere = new Map([...entriesOf('The pod'), ...entriesOf('The ledger')])

/** What a directory with so many pipes says, reading after reading. */
function problemAfter(...counts: readonly number[]): SourceProblem | undefined {
  const directory = createModelDirectory(new Map())
  const reader = createReader(directory, 'normal')
  let problem: SourceProblem | undefined
  for (const count of counts) {
    directory.files.clear()
    for (let n = 0; n < count; n += 1) directory.files.set(`${n}.yaml`, pipe(`p${n}`))
    problem = reader.read(new Map()).catalog.problem
  }
  return problem
}

/** What a reading says of a folder; in a busy one, a file comes or goes at every moment. */
async function problemOf(root: string, moment: () => void): Promise<SourceProblem | undefined> {
  const signal = new AbortController().signal
  signal.throwIfAborted = moment
  const options = {
    profile: DEFAULT,
    root,
    limits: DEFAULT_LIMITS,
    previous: undefined,
    trust: 'bytes',
    signal,
  } as const
  return (await readDirectory(options)).problem
}

async function unstable(): Promise<SourceProblem | undefined> {
  using workspace = createWorkspace()
  let step = 0
  workspace.write('manifests/a.yaml', pipe('a'))
  workspace.write('manifests/b.yaml', pipe('b'))
  return await problemOf(workspace.manifests, () => {
    step += 1
    if (step % 4 === 0) rmSync(workspace.path('manifests/b.yaml'), { force: true })
    else workspace.write('manifests/b.yaml', pipe('b'))
  })
}

/** Each way in which a reading may fail: complete by its type. */
const PROBLEMS: Readonly<Record<SourceProblem['reason'], () => Promise<SourceProblem | undefined>>> = {
  SourceUnreadable: () => problemOf('/nowhere', () => undefined),
  SourceEmpty: async () => problemAfter(5, 0),
  SourceShrunk: async () => problemAfter(5, 1),
  SourceUnstable: unstable,
}

describe('entries', () => {
  test('there is one for every reason that is a problem, and for no other word', () => {
    const problems = ALL.filter((reason) => REASONS[reason].severity !== 'info')
    expect([...reasons.keys()]).toEqual(expect.arrayContaining(problems))
    expect([...reasons.keys()].filter((name) => !(name in REASONS))).toEqual([])
  })

  test('there is one for every alert, and for no other', () => {
    expect([...alerts.keys()].toSorted()).toEqual(
      alertRules()
        .map(({ alert }) => alert)
        .toSorted(),
    )
  })

  test('there is one for every way in which a reading may fail', () => {
    const headings = [...source.keys()].filter((heading) => heading.startsWith('Source'))
    expect(headings.toSorted()).toEqual(Object.keys(PROBLEMS).toSorted())
  })

  test.each(Object.entries(PROBLEMS))('%s is quoted in the words of the program', async (reason, problem) => {
    const { reason: said, message = '' } = (await problem()) ?? {}
    expect(said).toBe(reason)
    const [, quote = ''] = /"(The [^"]*)"/.exec(source.get(reason) ?? '') ?? []
    const parts = quote.split(/\b(?:N|M)\b/).map((part) => part.replace(/[.,]$/, '').trim())
    expect(parts.filter((part) => part === '' || !message.includes(part))).toEqual([])
  })

  test('of a reason say what the table says, and begin with its meaning', () => {
    for (const reason of ALL.filter((name) => reasons.has(name))) {
      const [head = '', ...rest] = (reasons.get(reason) ?? '').split('\n\n')
      const { status, severity, alert, means } = REASONS[reason]
      expect.soft(head, reason).toMatch(new RegExp(`^> \\*\\*${status}\\*\\*, ${severity}, `))
      expect.soft(head, reason).toContain(alert ?? 'no alert')
      expect
        .soft(rest.join(' ').replaceAll(/\s+/g, ' ').toLowerCase(), reason)
        .toMatch(new RegExp(`^${RegExp.escape(means.toLowerCase())}\\b`))
    }
  })

  test('say what to do', () => {
    const entries = [...reasons, ...alerts, ...source, ...elsewhere]
    expect(entries.filter(([, text]) => !/^- \*\*Do\.\*\* \S/m.test(text)).map(([name]) => name)).toEqual([])
  })

  test('say where to look, except those of a reason that is well', () => {
    const unwell = [...reasons].filter(([name]) =>
      ALL.some((reason) => reason === name && !isWell(REASONS[reason])),
    )
    const entries = [...unwell, ...alerts, ...source, ...elsewhere]
    expect(unwell.length).toBeGreaterThan(20)
    expect(entries.filter(([, text]) => !/^- \*\*Look\.\*\* \S/m.test(text)).map(([name]) => name)).toEqual(
      [],
    )
  })
})

/** What messages tell people to write or to run, by reason. */
const TOLD = new Map(
  ALL.map((reason) => {
    const message = messageOf(because(reason), { key: 'Pipe/orders' }).replace(/git log .*/, '')
    const found = message.match(/policy\.\w+|"pipewright \w+|(?<!\w)--[a-z][a-z-]+/g) ?? []
    return [reason, new Set(found.map((text) => text.replace(/^"/, '')))] as const
  }),
)

describe('messages and the runbook', () => {
  const told = [...TOLD].filter(([reason, words]) => words.size > 0 && reasons.has(reason))

  test('were found', () => {
    expect(told.map(([reason]) => reason)).toEqual(
      expect.arrayContaining(['OutcomeUnknown', 'NotUpdatable', 'CreateLimit']),
    )
    const all = ['pipewright resolve', '--adopt', '--retry', 'policy.adopt', 'policy.retryCreate']
    expect(TOLD.get('OutcomeUnknown')).toEqual(new Set(all))
  })

  test.each(told)('say the same for %s', (reason, words) => {
    const entry = (reasons.get(reason) ?? '').replaceAll(/policy: \{ (\w+):/g, 'policy.$1')
    expect([...words].filter((word) => !entry.includes(word))).toEqual([])
  })
})

describe('what the runbook names exists', () => {
  test('where the alerts lead', () => {
    const dead = alertRules()
      .map(({ annotations }) => annotations.runbook_url)
      .filter((url) => {
        const [file = '', anchor = ''] = url.split('#')
        return !existsSync(join(ROOT, file)) || !anchorsIn(readFileSync(join(ROOT, file), 'utf8')).has(anchor)
      })
    expect(dead).toEqual([])
  })

  test('metrics', () => {
    const metrics = [...PAGE.matchAll(/pipewright_(\w+)/g)].map(([, name = '']) => name)
    expect(metrics.length).toBeGreaterThan(10)
    expect(metrics.filter((name) => !(name in ALL_METRICS))).toEqual([])
  })

  test('log lines', () => {
    const messages = new Set(LINES.map(({ message }) => message))
    const named =
      PAGE.match(/[Ll]og:[^.]*?\./gs)?.flatMap((text) => text.match(/(?<=`)[A-Z][\w ]+(?=`)/g) ?? []) ?? []
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((message) => !messages.has(message))).toEqual([])
  })

  test('statuses and reasons in addresses of the page', () => {
    const named = [...PAGE.matchAll(/\/\?(status|reason)=(\w+)/g)].map(
      ([, what, value]) => `${what} ${value}`,
    )
    const known = [
      ...STATUSES.map((status) => `status ${status}`),
      ...Object.keys(REASONS).map((reason) => `reason ${reason}`),
    ]
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((text) => !known.includes(text))).toEqual([])
  })

  test('variables', () => {
    const known = new Set(SETTINGS.map(({ env }) => env))
    expect((PAGE.match(/PIPEWRIGHT_\w+/g) ?? []).filter((name) => !known.has(name))).toEqual([])
  })

  test('findings', () => {
    const codes = [
      ...(source.get('A file or folder that cannot be read') ?? '').matchAll(/`([a-z]+(?:-[a-z]+)+)`/g),
    ]
    expect(codes.length).toBeGreaterThan(5)
    const known = anchorsIn(readFileSync(join(ROOT, 'docs/reference/findings.md'), 'utf8'))
    expect(codes.map(([, code = '']) => code).filter((code) => !known.has(code))).toEqual([])
  })

  test('lines of manifests', () => {
    const policies = CODE.filter((code) => code.startsWith('policy: {')).map((code) =>
      code
        .replaceAll(/\bKEY\b/g, 'Pipe/orders')
        .replaceAll(/\bID\b/g, '7d1a5c3e-48b0-4f96-b2d7-e90c6a1f8b44'),
    )
    expect(policies.length).toBeGreaterThan(5)
    for (const text of policies) {
      const { policy } = parse(text) as { policy: unknown } // it begins so
      expect(DeletablePolicy.safeParse(policy).error, text).toBeUndefined()
    }
    const fields = [...PAGE.matchAll(/`policy\.(\w+)/g)].map(([, field = '']) => field)
    expect(fields.filter((field) => !(field in DeletablePolicy.shape))).toEqual([])
  })
})

/** Flags of programs that are not ours. */
const FOREIGN = new Set(['--webhook-url', '--http-bind', '--http-metrics'])

describe('commands', async () => {
  const lines = CODE.flatMap((code) => code.split('\n'))
    .map((line) => /(?:^|-- )(?:pipewright|npx pipewright) (.*?)(?: {2,}#.*)?$/.exec(line)?.[1]?.trim())
    .filter((line) => line !== undefined)
  const commands = [...new Set(lines)].filter((line) => line !== '…')

  test('were found', () => {
    expect(commands).toEqual(expect.arrayContaining(['resolve KEY --adopt ID', 'status', 'allow']))
  })

  test.each(commands)('pipewright %s is one that the program takes', async (line) => {
    const [name = '', ...words] = line.split(/\s+/)
    const help = await helpOf(name)
    const flags = words.filter((word) => word.startsWith('--')).map((word) => word.split('=')[0] ?? '')
    expect(flags.filter((flag) => !new RegExp(`${flag}\\b`).test(help))).toEqual([])
    const wanted = /Usage: pipewright \w+ \[options\](.*)/.exec(help)?.[1]?.match(/<\w+>/g)?.length ?? 0
    const given = words.filter(
      (word, index) => !word.startsWith('--') && words[index - 1] !== '--adopt',
    ).length
    expect(given).toBeGreaterThanOrEqual(wanted)
  })

  test('flags that stand alone are settings, or flags of a command', async () => {
    const names = [...new Set(commands.map((line) => line.split(/\s/)[0] ?? ''))]
    const help = (await Promise.all(names.map(helpOf))).join('\n')
    const flags = CODE.filter((code) => /^--[a-z]/.test(code)).map((code) => code.split(/[ =]/)[0] ?? '')
    expect(flags.length).toBeGreaterThan(5)
    expect(flags.filter((flag) => !FOREIGN.has(flag) && !new RegExp(`${flag}\\b`).test(help))).toEqual([])
  })
})

/** The help of a command and of the settings. An unknown command fails. */
async function helpOf(command: string): Promise<string> {
  const ended = await Promise.all([runHere([command, '--help']), runHere(['settings'])])
  expect([command, ...ended.map(({ code }) => code)]).toEqual([command, 0, 0])
  return ended.map(({ stdout }) => stdout).join('')
}
