import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import { filesOf } from './files.ts'
import { INPUT, print, timed } from './timed.ts'

/* `yaml` as one finds it: all options as they come, and plain values in the end. */

const { dir } = INPUT as { dir: string }
const texts = filesOf(dir).map((file) => readFileSync(file, 'utf8'))
const { wallMs, cpuMs } = await timed(() => {
  for (const text of texts) for (const document of parseAllDocuments(text)) document.toJS()
})
print({ wallMs, cpuMs })
