import { execFileSync } from 'node:child_process'
import { isUtf8 } from 'node:buffer'
import { chownSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { enableCompileCache, flushCompileCache, getCompileCacheDir } from 'node:module'

/*
 * For the Dockerfile: fills the folder in which Node looks for sources whose types were stripped (bin/pipewright.js). Beside them
 * Node keeps what V8 compiled of all files; that is left out, because it is another at each build, and an image is the same one.
 */

/** The folder is one of the user who runs Node. */
const user = Number(process.argv[2])
const folder = '/app/node_modules/.cache/pipewright'
/** In front of what is kept, Node writes how to know that it is still right. */
const HEADER_BYTES = 20

mkdirSync(folder, { recursive: true })
chownSync(folder, user, user)
process.setgid(user)
process.setuid(user)
enableCompileCache(folder)
for (const file of globSync('/app/src/**/*.ts')) if (!file.endsWith('/main.ts')) await import(file)
flushCompileCache()
execFileSync(process.execPath, ['/app/bin/pipewright.js', '--version'])
for (const kept of globSync(`${getCompileCacheDir()}/*`)) {
  if (!isUtf8(readFileSync(kept).subarray(HEADER_BYTES))) rmSync(kept)
}
process.exit()
