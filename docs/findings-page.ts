import type { Profile } from '../src/kinds/profile.ts'
import { DEFAULT } from '../src/kinds/profiles/default/profile.ts'
import { PROFILES } from '../src/kinds/profiles/profiles.ts'
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'
import { type Finding, FINDING_CODES } from '../src/kinds/finding.ts'
import { pictureOf } from '../src/manifest/diagnostics/diagnostic.ts'
import { DEFAULT_LIMITS } from '../src/manifest/yaml/limits.ts'
import { createFindingRoom } from '../src/manifest/validate/parse-document.ts'
import { createPlaces } from '../src/manifest/rules/source-locator.ts'
import { nextCatalog, parseFile } from '../test/support/at-once.ts'

/* docs/reference/findings.md: each code with what it means, a wrong and a right example, and what is really said of the wrong one. */

/** A text; or a base as it is, with one place of it changed, or with more at its end. */
const Text = z.union([
  z.string(),
  z.strictObject({
    in: z.string(),
    from: z.string().optional(),
    to: z.string().default(''),
    more: z.string().optional(),
  }),
])

const Examples = z.strictObject({
  bases: z.record(z.string(), z.string()),
  examples: z.array(
    z.strictObject({
      code: z.string(),
      title: z.string(),
      /** The examples are commands, since a text cannot show the mistake. */
      shell: z.literal(true).optional(),
      /** The file that it stands in; `orders.yaml` unless set. */
      file: z.string().optional(),
      /** By its name; the default one unless set. */
      profile: z.string().optional(),
      wrong: Text,
      /** The base of the wrong one unless set; or the one place of the wrong one that differs. */
      right: z.union([Text, z.strictObject({ from: z.string(), to: z.string() })]).optional(),
    }),
  ),
})
type Written = z.infer<typeof Examples>
export type Example = Omit<Written['examples'][number], 'wrong' | 'right'> &
  Readonly<Record<'wrong' | 'right', string>>

const CORPUS = new URL('../test/corpus/', import.meta.url)

/** The file that an example stands in, unless it names one. */
export const EXAMPLE_FILE = 'orders.yaml'

/** One for each code, in the order in which people read them. */
export function findingExamples(): readonly Example[] {
  const { bases, examples } = Examples.parse(parse(readFileSync(new URL('examples.yaml', CORPUS), 'utf8')))
  return examples.map(({ wrong: written, right, ...example }) => {
    const wrong = textOf(bases, written)
    if (typeof right === 'object' && !('in' in right))
      return { ...example, wrong, right: wrong.split(right.from).join(right.to) }
    const base = typeof written === 'string' ? '' : { in: written.in, to: '' }
    return { ...example, wrong, right: textOf(bases, right ?? base) }
  })
}

function textOf(bases: Written['bases'], written: z.infer<typeof Text>): string {
  if (typeof written === 'string') return written
  const { from = '', to, more } = written
  const base = bases[written.in] ?? ''
  if (from !== '' && !base.includes(from)) throw new Error(`${written.in} has no ${from}`)
  const text = from === '' ? base : base.split(from).join(to)
  return more === undefined ? text : `${text}${more.trimEnd()}\n`
}

function profileOf(given: string | undefined): Profile {
  return PROFILES.find(({ name }) => name === given) ?? DEFAULT
}

/** What is said of an example, beside right manifests of a Service and an Alert. */
export function findingsOfExample(
  { file = EXAMPLE_FILE, profile, wrong, right }: Pick<Example, 'file' | 'profile' | 'wrong' | 'right'>,
  side: 'wrong' | 'right',
): readonly Finding[] {
  const beside = (profile === undefined ? ['alert', 'service'] : ['service']).map((name) => [
    `beside/${name}.yaml`,
    readFileSync(new URL(`beside/${name}.yaml`, CORPUS)),
  ]) satisfies readonly (readonly [string, Buffer])[]
  const bytes = new Map([...beside, [file, Buffer.from(side === 'wrong' ? wrong : right)] as const])
  const files = new Map(
    [...bytes].map(([name, content]) => [
      name,
      parseFile(
        { file: name, hash: name, bytes: content },
        { profile: profileOf(profile), limits: DEFAULT_LIMITS, room: createFindingRoom() },
      ),
    ]),
  )
  const places = createPlaces((name) => bytes.get(name)?.toString())
  const reading = {
    revision: { id: 'examples', from: 'content' },
    files,
    findings: [],
    unread: [],
    problem: undefined,
  } as const
  return nextCatalog({ previous: undefined, reading, recorded: new Map(), places, accept: 'normal' }).catalog
    .findings
}

/** The whole page. @param note that it is generated */
export function findingsPage(note: string): string {
  const meanings = new Map<string, string>(Object.entries(FINDING_CODES))
  const examples = findingExamples()
  const rows = examples.map(({ code, title }) => `| [\`${code}\`](#${code}) | ${title} |`)
  const sections = examples.map((example) => section(example, meanings.get(example.code) ?? ''))
  return `# Findings

${note}

The codes that \`pipewright validate\` and the daemon report for manifests. Each finding has a code, a file, a line, a column, a
sentence about the mistake and a sentence about the fix. A *warning* is harmless. An *error* keeps the resource in its last state
until you correct the manifest.

A test checks the examples, beside a Service \`analytics\` and an Alert \`ingest-lag\`. Below each wrong example is the output of
Pipewright.

| code | in short |
|---|---|
${rows.join('\n')}

${sections.join('\n')}`
}

function section(example: Example, meaning: string): string {
  const { code, title, shell, profile, wrong, right } = example
  const language = shell === true ? 'sh' : 'yaml'
  const said =
    shell === true
      ? ''
      : `\n\`\`\`text\n${findingsOfExample(example, 'wrong').map(words).join('\n')}\n\`\`\`\n`
  return `## ${code}

**${title}**: ${meaning}.${profile === undefined ? '' : ` With \`--profile ${profile}\`.`}

Wrong:

\`\`\`${language}
${wrong}\`\`\`
${said}
Right:

\`\`\`${language}
${right}\`\`\`
`
}

function words(finding: Finding): string {
  return `${pictureOf(finding)}\n${finding.severity}: ${finding.message} ${finding.hint}`
}
