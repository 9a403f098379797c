import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { LAUNCHER, ROOT } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'

/* The commands of a page run in their order and print what the page shows. `…` in an output stands for anything. */

const run = promisify(execFile)

/** Ids, times and ports differ from run to run. */
const VARYING =
  /[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[\d:.]+Z|127\.0\.0\.1:\d+|\bprocess \d+ on \w+|just now|\d+m?s ago/g

function plain(text: string): string {
  return text.replaceAll(VARYING, '#').replaceAll(/ +/g, ' ').replaceAll(/^ /gm, '').trim()
}

/** @returns what is shown if it was printed, else what was printed */
function seen(printed: string, shown: string): string {
  const parts = plain(shown).split('…')
  const pattern = parts.map((part) => RegExp.escape(part.trim())).join('[^]*?')
  return new RegExp(pattern).test(plain(printed)) ? shown : printed
}

/** The blocks of commands, each with the output below it. */
function stepsOf(path: string): readonly { readonly command: string; readonly shown: string | undefined }[] {
  const page = readFileSync(join(ROOT, path), 'utf8')
  const blocks = [...page.matchAll(/^ *```(\w+)\n([\s\S]*?)^ *```$/gm)]
  return blocks.flatMap(([, language, command = ''], at) => {
    const [, below, shown] = blocks[at + 1] ?? []
    return language === 'sh' ? [{ command, shown: below === 'text' ? shown : undefined }] : []
  })
}

test.each(['README.md', 'docs/tutorials/sandbox.md', 'docs/tutorials/first-pipe.md'])('%s', async (path) => {
  using workspace = createWorkspace()
  cpSync(join(ROOT, 'manifests'), workspace.manifests, { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), workspace.path('node_modules'))
  workspace.write('bin/npx', `#!/bin/sh\nshift\nexec "${process.execPath}" "${LAUNCHER}" "$@"\n`)
  chmodSync(workspace.path('bin/npx'), 0o755)
  const PATH = `${workspace.path('bin')}:${process.env['PATH']}`
  const options = { cwd: workspace.dir, env: { ...process.env, PATH, NO_COLOR: '1', npm_command: 'exec' } }
  /** Texts of the page, and the texts of this run. */
  const facts = new Map([
    ['npm ci\n', ''],
    ['npm start', 'npx pipewright run --sandbox --log-format pretty --listen 127.0.0.1:0'],
    ['--key-secret demo-secret\n', '--key-secret demo-secret --listen 127.0.0.1:0\n'],
  ])
  await using servers = new AsyncDisposableStack()
  const serve = async (command: string): Promise<string> => {
    let printed = ''
    const server = spawn('sh', ['-c', `exec ${command}`], options)
    servers.defer(async () => {
      server.kill('SIGTERM')
      expect(await once(server, 'close')).toEqual([0, null])
    })
    server.stdout.setEncoding('utf8').on('data', (more: string) => (printed += more))
    const address = () => /(?:baseUrl=|listens on )(http:\S+\d)/.exec(printed)?.[1]
    const url = await until('the server to listen', address)
    facts.set('http://127.0.0.1:42637', url).set('http://127.0.0.1:8090', url)
    return printed
  }
  const type = async (command: string): Promise<string> => {
    const sandbox = facts.get('http://127.0.0.1:42637') ?? ''
    // A plan with changes ends with 2, an error with 1.
    const { stdout } = await run('sh', ['-c', `sandbox=${sandbox}\n${command}`], options).catch(
      (error: { readonly stdout: string }) => error,
    )
    const [, id] = /^"id":"([^"]+)"/.exec(stdout) ?? []
    if (id !== undefined) facts.set('e63ff830-ef59-4a98-9034-b29d3e967e71', id)
    return stdout
  }

  for (const { command, shown = '' } of stepsOf(path)) {
    if (/npm test|^rm /.test(command)) continue
    const text = [...facts].reduce((sofar, [before, now]) => sofar.replaceAll(before, now), command)
    const isLook = text.includes('pipewright status')
    const first = await (/pipewright (?:run|sandbox) /.test(text) ? serve(text) : type(text))
    const printed = async () => seen(isLook ? await type(text) : first, shown)
    await expect.poll(printed, { message: text, timeout: isLook ? 150_000 : 100 }).toBe(shown)
  }
})
