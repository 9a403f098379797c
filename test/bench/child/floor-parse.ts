import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import { filesOf } from './files.ts'
import { INPUT, print, timed } from './timed.ts'

/*
 * `yaml` parsing the bytes of the directory, which were read beforehand: syntax trees with places and errors, since
 * findings with line and column need them, and everything else of the library off.
 */

const { dir } = INPUT as { dir: string }
const texts = filesOf(dir).map((file) => readFileSync(file, 'utf8'))
const OPTIONS = { prettyErrors: false, uniqueKeys: false, stringKeys: true, logLevel: 'silent' } as const

const { wallMs, cpuMs, result } = await timed(() => {
  let count = 0
  for (const text of texts) count += parseAllDocuments(text, OPTIONS).length
  return count
})
print({ wallMs, cpuMs, documents: result })
