import { readFileSync } from 'node:fs'
import { Agent, request } from 'undici'
import { INPUT, print, timed } from './timed.ts'

/* A bare loop of undici: the given requests, so many at a time, each reply read to its end. */

const { url, pathsFile, concurrency, authorization } = INPUT as {
  url: string
  pathsFile: string
  concurrency: number
  authorization: string
}
const paths = JSON.parse(readFileSync(pathsFile, 'utf8')) as readonly string[]
const dispatcher = new Agent({ allowH2: false })
const headers = { Authorization: authorization, Accept: 'application/json', 'User-Agent': 'pipewright/bench' }
let next = 0

async function loop(): Promise<void> {
  for (let path = paths[next++]; path !== undefined; path = paths[next++]) {
    const reply = await request(`${url}${path}`, { dispatcher, headers })
    await reply.body.text()
  }
}

const { wallMs, cpuMs } = await timed(() => Promise.all(Array.from({ length: concurrency }, loop)))
await dispatcher.close()
print({ wallMs, cpuMs })
