import { readFileSync, readdirSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'

/* The corpus: test/corpus/wrong holds manifests with one mistake each and what is said of it, right those without. */

/** Which of the bases is edited; the first one unless set. */
const OF_BASE = { in: z.string().optional() }

/** A change of one place, whose text is there exactly once: another text, a line that is gone, or a line more before it. */
const Edit = z.union([
  z.strictObject({ ...OF_BASE, from: z.string().min(1), to: z.string() }),
  z.strictObject({ ...OF_BASE, without: z.string().min(1) }),
  z.strictObject({ ...OF_BASE, before: z.string().min(1), put: z.string() }),
])

/** What is to be found, as a reviewer reads it. */
const Expected = z.strictObject({
  code: z.string(),
  severity: z.literal('warning').optional(),
  /** That of the case unless set. */
  file: z.string().optional(),
  line: z.int().positive(),
  column: z.int().positive(),
  /** What is marked, as it stands in the file; absent where there is no line to show. */
  mark: z.string().optional(),
  /** That of the base unless set; an empty text: none. */
  key: z.string().optional(),
})
export type Expected = z.infer<typeof Expected>

const Case = z.strictObject({
  /** One sentence, the title of its test: why it is wrong, or what the right one shows. */
  why: z.string().regex(/[.?]$/, 'must be a sentence'),
  text: z.string().optional(),
  /** Instead of `text`: the spec of a Pipe of the service that stands beside it. */
  pipe: z.string().optional(),
  /** The file that holds `text` or the edited base; `manifest.yaml` unless set. */
  file: z.string().optional(),
  edit: Edit.optional(),
  files: z.record(z.string(), z.string()).optional(),
  /** Files that are no text, in base64. */
  bytes: z.record(z.string(), z.base64()).optional(),
  /** Symbolic links, each with its target. */
  links: z.record(z.string(), z.string()).optional(),
  limits: z.record(z.string(), z.int().positive()).optional(),
  /** All of the hint of each finding. */
  hint: z.string().optional(),
  /** Planted; must not appear in any finding. */
  secret: z.string().min(6).optional(),
  /** Nothing, for the right ones. */
  expect: z.array(Expected).default([]),
})

const Area = z.strictObject({
  about: z.string().min(1),
  /** The default one unless set. */
  profile: z.string().default(DEFAULT.name),
  /** Right manifests of test/corpus/beside that every case stands beside. */
  beside: z.array(z.string()).optional(),
  /** Right manifests that the cases are edited from, by their names; or the folder that the project comes with, of its pipes. */
  bases: z.union([z.record(z.string(), z.string()), z.string()]).default({}),
  cases: z.array(Case).min(1),
})

/** One directory of manifests, and what is to be found in it. */
export interface CorpusCase {
  readonly title: string
  readonly profile: string
  readonly files: Readonly<Record<string, Buffer>>
  readonly links: Readonly<Record<string, string>>
  readonly limits: Readonly<Record<string, number>>
  readonly hint?: string | undefined
  readonly secret: string | undefined
  readonly expect: readonly Expected[]
}

const HERE = new URL('./', import.meta.url)

/** The file that holds the text of a case which names none. */
const ONLY_FILE = 'manifest.yaml'

const PIPE_HEAD = `apiVersion: pipewright/v1
kind: Pipe
metadata: {name: a}
spec:
  service: analytics
`

/** All cases of one side, in the order of their files. @throws when a file of the corpus is itself wrong */
export function corpus(side: 'wrong' | 'right'): readonly CorpusCase[] {
  return areaNames(side).flatMap((name) => casesOf(`${side}/${name}`, readArea(side, name)))
}

/** Manifests that the project comes with, as a case. */
export function comesWith(folder: string, profile: string): CorpusCase {
  const root = new URL(`../../${folder}/`, import.meta.url)
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.yaml'),
  )
  return {
    title: folder,
    profile,
    files: Object.fromEntries(names.map((name) => [name, readFileSync(new URL(name, root))])),
    links: {},
    limits: {},
    secret: undefined,
    expect: [],
  }
}

/** The text of a right manifest that others stand beside. */
export function besideText(name: string): string {
  return readFileSync(new URL(`beside/${name}.yaml`, HERE), 'utf8')
}

/** What the cases of one area are edited from, by their names. */
export function basesOfArea(name: string): Readonly<Record<string, string>> {
  return basesOf(readArea('wrong', `${name}.yaml`))
}

/** What the cases of the wrong side are edited from, each in the directory of its area. */
export function wrongBases(): readonly CorpusCase[] {
  return areaNames('wrong').flatMap((name) => {
    const area = readArea('wrong', name)
    const cases = Object.entries(basesOf(area)).map(([base, text]) => ({
      why: `${base} is right.`,
      text,
      expect: [],
    }))
    return casesOf(`wrong/${name}`, { ...area, cases })
  })
}

function areaNames(side: string): readonly string[] {
  return readdirSync(new URL(side, HERE))
    .filter((name) => name.endsWith('.yaml'))
    .toSorted()
}

function readArea(side: string, name: string): z.infer<typeof Area> {
  return Area.parse(parse(readFileSync(new URL(`${side}/${name}`, HERE), 'utf8')))
}

function basesOf({ bases }: z.infer<typeof Area>): Readonly<Record<string, string>> {
  if (typeof bases !== 'string') return bases
  const texts = Object.values(comesWith(bases, '').files).flatMap((file) =>
    `\n${file.toString('utf8')}`.split(/\n(?=apiVersion: )/),
  )
  const pipes = texts.map((text) => [/kind: Pipe\nmetadata:\n  name: (\S+)/.exec(text)?.[1], text] as const)
  return Object.fromEntries(
    pipes.flatMap(([name, text]) =>
      name === undefined ? [] : [[name, text.replace('service: warehouse', 'service: analytics')]],
    ),
  )
}

function casesOf(where: string, area: z.infer<typeof Area>): readonly CorpusCase[] {
  const beside = (area.beside ?? []).map((other) => [`beside/${other}.yaml`, besideText(other)] as const)
  return area.cases.map((each) => {
    const title = `${where}: ${each.why}`
    const texts = Object.entries({
      ...Object.fromEntries(beside),
      ...ownFiles(title, each, basesOf(area)),
    })
    const bytes = Object.entries(each.bytes ?? {})
    return {
      title,
      profile: area.profile,
      files: Object.fromEntries([
        ...texts.map(([file, text]) => [file, Buffer.from(text)] as const),
        ...bytes.map(([file, base64]) => [file, Buffer.from(base64, 'base64')] as const),
      ]),
      links: each.links ?? {},
      limits: each.limits ?? {},
      hint: each.hint,
      secret: each.secret,
      expect: each.expect.map((expected) => {
        const key = expected.key ?? keyOfBase(each, basesOf(area))
        return { file: each.file ?? ONLY_FILE, ...expected, key: key === '' ? undefined : key }
      }),
    }
  })
}

function ownFiles(
  title: string,
  each: z.infer<typeof Case>,
  bases: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const file = each.file ?? ONLY_FILE
  if (each.edit !== undefined) return { [file]: edited(title, each.edit, bases) }
  if (each.text !== undefined) return { [file]: each.text }
  if (each.pipe !== undefined) return { [file]: PIPE_HEAD + each.pipe.replaceAll(/^(?=.)/gm, '  ') }
  return each.files ?? {}
}

function edited(title: string, edit: z.infer<typeof Edit>, bases: Readonly<Record<string, string>>): string {
  const text = bases[edit.in ?? Object.keys(bases)[0] ?? ''] ?? ''
  const place = 'from' in edit ? edit.from : 'without' in edit ? edit.without : edit.before
  const [begin = '', end = '', ...more] = text.split(place)
  if (place === text || text === begin || more.length > 0)
    throw new Error(`${title}: ${JSON.stringify(place)} is not there exactly once.`)
  if ('from' in edit) return begin + edit.to + end
  const [linesBefore, indent = ''] = [begin.replace(/.*$/, ''), /.*$/.exec(begin)?.[0]]
  if ('without' in edit) return linesBefore + end.replace(/^.*\n/, '')
  return `${linesBefore}${indent}${edit.put}\n${indent}${place}${end}`
}

function keyOfBase({ edit }: z.infer<typeof Case>, bases: Readonly<Record<string, string>>): string {
  if (edit === undefined) return ''
  const text = bases[edit.in ?? Object.keys(bases)[0] ?? ''] ?? ''
  const [, kind, name] = /^kind: (\w+)\nmetadata:\s*\{?\s*name: ([^\s},]+)/m.exec(text) ?? []
  return `${kind}/${name}`
}
