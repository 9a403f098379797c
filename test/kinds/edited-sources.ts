import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { expect } from 'vitest'

/* A setup file for Vitest: these tests load one source as an engineer would edit it. */

const FIELDS = `
  racks: Text.describe('Racks of the brokers.')
    .meta({ form: 'comma-list', change: 'connection', identifies: true, examples: ['a,b'] }),
  rackToken: SecretRef.optional().describe('Token of the racks.').meta({ returned: 'never' }),`
const IMPORT = `import { VIEW } from '../../test/kinds/view/kind.ts'\n`

/** By test: the source, the text after which it is edited, what is added there, and what on top. */
const EDITS = {
  'fifth-kind': ['src/kinds/registry.ts', 'QUERY_ENDPOINT, ALERT', ', VIEW', IMPORT],
  'new-field': ['pipe/sources/kafka.ts', 'KafkaSource = z.strictObject({', FIELDS, ''],
} as const

const { testPath = '' } = expect.getState()
const [file, place, added, onTop] = EDITS[testPath.includes('new-field') ? 'new-field' : 'fifth-kind']

registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith(file)) return nextLoad(url, context)
    const text = readFileSync(new URL(url), 'utf8')
    return {
      format: 'module-typescript',
      source: onTop + text.replace(place, place + added),
      shortCircuit: true,
    }
  },
})
