import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isObject } from '../../src/lib/json.ts'
import { type LanguageServer, startLanguageServer } from './language-server.ts'

const ROOT = new URL('../../', import.meta.url).href

/** The comment line of docs/how-to/pull-requests.md, from a file two folders below the root. */
const COMMENT = '# yaml-language-server: $schema=../../docs/schema/manifest.schema.json'

const MANIFEST = [
  COMMENT,
  'apiVersion: pipewright/v1',
  'kind: Pipe',
  'metadata:',
  '  name: orders',
  'spec:',
  '  service: analytics',
  '  source:',
  '    kafka:',
  '      topics: orders',
  '      ',
  '',
].join('\n')

let server: LanguageServer

beforeAll(async () => {
  server = await startLanguageServer(ROOT)
})

afterAll(() => server[Symbol.asyncDispose]())

describe('an editor with the YAML language server', () => {
  test('completes the fields of spec.source.kafka, with what each is for', async () => {
    const uri = open('completion', MANIFEST)
    const reply = await server.ask('textDocument/completion', {
      textDocument: { uri },
      position: { line: 10, character: 6 },
    })
    const items = itemsOf(reply)
    const labels = items.map(({ label }) => label)
    expect(labels).toEqual(
      expect.arrayContaining(['brokers', 'consumerGroup', 'schemaRegistry', 'credentials']),
    )
    // what is there already, and what belongs elsewhere
    expect(labels).not.toContain('topics')
    expect(labels).not.toContain('host')
    expect(textIn(items.find(({ label }) => label === 'consumerGroup'))).toContain(
      'Consumer group to read as.',
    )
  })

  test('shows the description of a field below the pointer', async () => {
    const uri = open('hover', MANIFEST)
    const reply = await server.ask('textDocument/hover', {
      textDocument: { uri },
      position: { line: 9, character: 8 },
    })
    expect(textIn(reply)).toContain('Comma-separated list of topics.')
  })

  test('marks an unknown field, and nothing in a right manifest', async () => {
    const wrong = open(
      'wrong',
      MANIFEST.replace('topics: orders\n      ', 'topics: orders\n      topisc: orders'),
    )
    const [first, ...others] = await diagnosticsOf(wrong, true)
    expect(others).toEqual([])
    expect(first).toMatchObject({
      message: expect.stringContaining('topisc') as unknown,
      range: { start: { line: 10, character: 6 }, end: { line: 10, character: 12 } },
    })
    const right = open('right', MANIFEST)
    expect(await diagnosticsOf(right, false)).toEqual([])
  })
})

/** Opens a document that need not be on disk. */
function open(name: string, text: string): string {
  const uri = new URL(`manifests/payments/${name}.yaml`, ROOT).href
  server.tell('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version: 1, text } })
  return uri
}

async function diagnosticsOf(uri: string, some: boolean): Promise<readonly unknown[]> {
  const params = await server.notice(
    'textDocument/publishDiagnostics',
    (each) =>
      isObject(each) &&
      each['uri'] === uri &&
      Array.isArray(each['diagnostics']) &&
      each['diagnostics'].length > 0 === some,
  )
  return isObject(params) && Array.isArray(params['diagnostics']) ? params['diagnostics'] : []
}

function itemsOf(reply: unknown): readonly { readonly label: string }[] {
  const items: unknown = isObject(reply) ? reply['items'] : reply
  if (!Array.isArray(items)) return []
  return items.flatMap((item: unknown) =>
    isObject(item) && typeof item['label'] === 'string' ? [{ ...item, label: item['label'] }] : [],
  )
}

/** All that a reply says, without the order of its parts. */
function textIn(value: unknown): string {
  return JSON.stringify(value) ?? ''
}
