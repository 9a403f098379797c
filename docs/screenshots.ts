import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { BrowserContextOptions } from 'playwright-core'
import { openPage } from '../test/slow/page-browser.ts'
import { startProgram, urlOf } from '../test/support/process.ts'
import { until } from '../test/support/until.ts'
import { createWorkspace, type Workspace } from '../test/support/workspace.ts'
import { startTroubledDaemon } from './screenshots-troubled.ts'

/*
 * Takes the pictures of the page in docs/images (`npm run screenshots`): of the real daemon, in Debian's Chromium. They
 * show the time, so that each run makes new ones. They show example places instead of those of this machine.
 */

const IMAGES = fileURLToPath(new URL('images/', import.meta.url))
const EXAMPLES = fileURLToPath(new URL('../manifests/', import.meta.url))

const WIDE: BrowserContextOptions = { viewport: { width: 1280, height: 860 }, locale: 'en-GB' }
const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  isMobile: true,
  locale: 'en-GB',
}

interface Picture {
  readonly name: string
  readonly path: string
  readonly look: BrowserContextOptions
  /** What has to be there first. */
  readonly ready: string
  /** The picture ends with this element; otherwise with the screen. */
  readonly upTo: string | undefined
}

const OF_THE_SANDBOX: readonly Picture[] = [
  { name: 'light', path: '/', look: WIDE, ready: '.list tbody tr', upTo: undefined },
  {
    name: 'dark',
    path: '/',
    look: { ...WIDE, colorScheme: 'dark' },
    ready: '.list tbody tr',
    upTo: undefined,
  },
  { name: 'phone', path: '/', look: PHONE, ready: '.list tbody tr', upTo: undefined },
  {
    name: 'resource',
    path: '/?resource=Pipe/warehouse-stock',
    look: WIDE,
    ready: 'tr.differs',
    upTo: 'footer',
  },
]

const OF_FAULTS: readonly Picture[] = [
  { name: 'faults', path: '/', look: WIDE, ready: '#unwell > li', upTo: '#unwell-section' },
]

await using stack = new AsyncDisposableStack()
mkdirSync(IMAGES, { recursive: true })
const troubled = checkout(stack)
await takeAll(await startSandboxDaemon(stack), OF_THE_SANDBOX, {})
const daemon = await startTroubledDaemon(troubled, stack)
await takeAll(daemon.url, OF_FAULTS, {
  [troubled.dir]: '/srv/pipewright',
  [daemon.platform]: 'https://api.example.com',
})

/** A folder with the example manifests as somebody's repository, so that they have a commit. */
function checkout(owner: AsyncDisposableStack): Workspace {
  const workspace = owner.use(createWorkspace())
  cpSync(EXAMPLES, workspace.manifests, { recursive: true })
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=docs', '-c', 'user.email=docs@example.com', ...args], {
      cwd: workspace.dir,
      stdio: 'pipe',
    })
  git('init', '--quiet')
  git('add', 'manifests')
  git('commit', '--quiet', '--message', 'Manifests')
  return workspace
}

async function startSandboxDaemon(owner: AsyncDisposableStack): Promise<string> {
  const { dir } = checkout(owner)
  const program = owner.use(startProgram(['run', '--sandbox', '--listen', '127.0.0.1:0'], { cwd: dir }))
  const url = await urlOf(program)
  await until('the sandbox to settle', async () => {
    const reply = await fetch(`${url}/api/v1/overview`)
    const { counts } = (await reply.json()) as { readonly counts: Readonly<Record<string, number>> } // of our API
    return counts['Ready'] === 15
  })
  return url
}

async function takeAll(
  url: string,
  pictures: readonly Picture[],
  places: Readonly<Record<string, string>>,
): Promise<void> {
  for (const { name, path, look, ready, upTo } of pictures) {
    await using watched = await openPage(url + path, look)
    await watched.page.locator(ready).first().waitFor()
    const { page, faults } = watched
    await page.evaluate(replaceTexts(places))
    const text = await page.locator('body').innerText()
    if (text.includes(tmpdir())) throw new Error(`${name} shows a path of this machine`)
    const box = upTo === undefined ? undefined : await page.locator(upTo).boundingBox()
    const clip =
      box === null || box === undefined
        ? {}
        : { clip: { x: 0, y: 0, width: 1280, height: Math.ceil(box.y + box.height + 16) } }
    await page.screenshot({ path: `${IMAGES}${name}.png`, fullPage: box !== undefined, ...clip })
    if (faults().length > 0) throw new Error(`the page is not in order: ${faults().join('; ')}`)
    process.stdout.write(`docs/images/${name}.png\n`)
  }
}

/** A script of the browser. */
function replaceTexts(places: Readonly<Record<string, string>>): string {
  return `{
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (texts.nextNode())
      for (const [from, to] of Object.entries(${JSON.stringify(places)}))
        texts.currentNode.nodeValue = texts.currentNode.nodeValue.replaceAll(from, to)
  }`
}
