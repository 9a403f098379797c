import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { COMMAND_HELP } from '../../src/cli/command-help.ts'
import type { Key } from '../../src/kinds/key.ts'
import { messageOf, REASONS, stepsOf, type Reason } from '../../src/plan/reason.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { LINES } from '../../src/telemetry/event-table.ts'
import { FIELDS } from '../../src/telemetry/log-fields.ts'
import { ALL_METRICS } from '../../src/telemetry/metric-definitions.ts'
import { because } from '../plan/inputs.ts'
import { bannedIn } from '../support/plain-words.ts'
import { runHere } from '../support/command.ts'
import { ROOT } from '../support/process.ts'

/* What people read is held to plain words. */

test('each phrase is found where it stands, whatever its case', () => {
  expect(bannedIn('One may look.\nThe Brake is on.')).toHaveLength(2)
  expect(bannedIn('You can look.\nThe create limit is reached.')).toEqual([])
})

const ALL = Object.keys(REASONS) as readonly Reason[] // the keys of an object literal
const ABOUT = {
  key: 'Pipe/orders' as Key,
  place: 'orders.yaml:3',
  directory: 'manifests',
  service: 'analytics',
  pipeId: 'p-1',
  id: 'p-1',
  differences: [],
}

function sentencesIn(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?]["”)]?) +(?=[A-Z"])/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')
}

describe('reasons', () => {
  test('have plain words', () => {
    const texts = ALL.flatMap((reason) => [
      REASONS[reason].means,
      messageOf(because(reason), 'Pipe/orders'),
      ...stepsOf(because(reason), ABOUT).map(({ text }) => text),
    ])
    expect(bannedIn(texts.join('\n'))).toEqual([])
  })

  test('mean the same for every kind', () => {
    expect(ALL.filter((reason) => /\bpipes?\b/.test(REASONS[reason].means))).toEqual([])
  })

  test('have short sentences, and each once', () => {
    for (const reason of ALL) {
      const sentences = sentencesIn(messageOf(because(reason), 'Pipe/orders'))
      expect.soft(sentences.filter((sentence) => sentence.split(/\s+/).length > 30)).toEqual([])
      expect.soft(new Set(sentences).size, reason).toBe(sentences.length)
    }
  })
})

test('log lines and their fields have plain words', () => {
  const texts = LINES.flatMap(({ message, levels }) => [message, ...Object.values(levels)])
  expect(bannedIn([...texts, ...Object.values(FIELDS)].join('\n'))).toEqual([])
  expect(LINES.map(({ message }) => message).filter((message) => /\bpipe\b/i.test(message))).toEqual([])
})

test('settings and metrics have plain words', () => {
  const texts = Object.values(SETTINGS).map(({ describe: words }) => words)
  expect(bannedIn([...texts, ...Object.values(ALL_METRICS).map(({ help }) => help)].join('\n'))).toEqual([])
})

test.each(['help', ...Object.keys(COMMAND_HELP)])('the help of "%s" has plain words', async (command) => {
  const { code, stdout } = await runHere(command === 'help' ? ['--help'] : [command, '--help'])
  expect(code).toBe(0)
  expect(bannedIn(stdout)).toEqual([])
})

/** What the page and the replies of the server say: texts in quotes that have a space in them. */
const SERVED = ['src/server', 'src/server/api', 'src/server/page'].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => /\.(ts|js)$/.test(name))
    .map((name) => `${folder}/${name}`),
)

test('the texts that are served are plain words', () => {
  for (const file of SERVED) {
    const code = readFileSync(join(ROOT, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/ .*/g, '')
    const texts = [...code.matchAll(/'([^'\n]* [^'\n]*)'|`([^`]* [^`]*)`/g)].map(([, text, template]) =>
      (text ?? template ?? '')
        .replaceAll(/\$\{[^}]*\}/g, '…')
        .replaceAll(/ (?:id|class|aria-(?:labell|describ)edby)=\S+?(?=[ >])/g, ''),
    )
    expect.soft(bannedIn(texts.join('\n')), file).toEqual([])
  }
})
