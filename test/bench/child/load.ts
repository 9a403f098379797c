import { DEFAULT } from '../../../src/kinds/profiles/default/profile.ts'
import { writeFileSync } from 'node:fs'
import { createSource } from '../../../src/manifest/source.ts'
import { INPUT, print, timed } from './timed.ts'

/* Reads a directory as the daemon does: first all of it, then again and again with one file changed each time. */

const { dir, edits } = INPUT as { dir: string; edits: readonly { path: string; text: string }[] }
const source = createSource({ profile: DEFAULT, root: dir })
const never = new AbortController().signal
const load = () => source.load(new Map(), { accept: 'normal' }, never)

const first = await timed(load)
const again = []
for (const { path, text } of edits) {
  writeFileSync(path, text)
  const { wallMs, cpuMs, result } = await timed(load)
  again.push({ wallMs, cpuMs, changed: result.changed.length })
}
const { state } = first.result
print({
  wallMs: first.wallMs,
  cpuMs: first.cpuMs,
  manifests: Object.values(state.counts).reduce((sum, count) => sum + count, 0),
  findings: state.catalog.findings.length,
  again,
})
