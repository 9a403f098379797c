import { masked } from '../support/masked.ts'
import { describe, expect, test } from 'vitest'
import { nameOf, type Key } from '../../src/kinds/key.ts'
import { conditionEntry } from '../support/events.ts'
import { condition, fakeParts, finding, NOW, overview, resource } from '../server/fake-parts.ts'
import { running } from '../server/running.ts'
import { openPage, seriousFindings, tooWide } from './page-browser.ts'

/** What would do something if it were read as anything but text. */
const MARKUP = `<img src=x onerror="alert(1)"><script>alert(2)</script>'"&amp;</td></table>javascript:alert(3)`
const TURNED = 'abc\u202Egnp.exe\u202C \u2067right\u2069 \u0000\u001B[31m'
const LONG = 'x'.repeat(5_000)
const ARABIC = 'خط أنابيب'

const NAMES = [MARKUP, TURNED, LONG, ARABIC]

/** A server where every text that comes from manifests or the platform is hostile. */
function hostileParts() {
  const resources = NAMES.flatMap((text, index) => {
    const key: Key = `Pipe/${text}`
    const drifted = resource(key, {
      status: 'Drifted',
      reason: 'Drifted',
      message: text,
      labels: { [text]: text },
      file: `${text}.yaml`,
      service: text,
      state: masked(text),
      pipeId: text,
      manifestRevision: text,
      observed: { id: text, name: text, scaling: { replicas: 2 }, [text]: { [text]: text } },
      differences: [{ field: text, desired: text, observed: text }],
      conditions: {
        Valid: condition('True'),
        Synced: condition('False', { reason: 'Drifted', facts: { fields: [text], from: 'manifest' } }),
        Ready: condition('True', { reason: 'Healthy', facts: { state: masked(text) } }),
      },
    })
    return [drifted, resource(`Alert/${index}`, { labels: { [text]: text }, state: masked(text) })]
  })
  const findings = NAMES.map((text) =>
    finding({ message: text, hint: text, file: text, lineText: text, code: text, column: 1, endColumn: 9 }),
  )
  const parts = fakeParts(
    {
      desired(key) {
        const text = nameOf(key)
        return { name: text, scaling: { replicas: 1 }, [text]: [text] }
      },
      manifest(key) {
        const text = nameOf(key)
        const body = { [text]: [text] }
        return {
          document: { kind: 'Pipe', policy: { [text]: text }, spec: body },
          request: { operation: 'createPipe', method: 'POST', path: `/${text}`, body },
          needs: NAMES.map((name): Key => `Pipe/${name}`),
          neededBy: NAMES.map((name): Key => `Alert/${name}`),
          neededByCount: 9,
        }
      },
      overview: () =>
        overview({
          findings,
          manifestsDir: MARKUP,
          repositoryUrl: 'https://git.example/blob/{revision}/{file}',
          sourceProblem: MARKUP,
          revision: { id: MARKUP, from: 'git' },
          budgets: [{ credential: MARKUP, used: 1, limit: 10, windowMs: 10_000, waiting: 0, pausedForMs: 0 }],
          pauses: [{ service: MARKUP, since: NOW, message: MARKUP }],
        }),
    },
    resources,
    NAMES.map((text) =>
      conditionEntry({
        status: 'False',
        reason: 'Drifted',
        key: `Pipe/${text}`,
        revision: text,
        requestId: text,
        message: text,
      }),
    ),
  )
  for (const text of NAMES) {
    parts.tell({ type: 'Observed', key: `Pipe/${text}`, state: masked(text), differences: [] })
    parts.tell({ type: 'WatchModeChanged', mode: 'polling', message: text })
  }
  return parts
}

describe('texts from manifests and from the platform', () => {
  test.each([
    ['on a wide screen', 1280],
    ['on a phone', 375],
  ])('never become markup, turn nothing around and break nothing, %s', async (_, width) => {
    const { url } = await running(hostileParts())
    await using watched = await openPage(url, { viewport: { width, height: 800 } })
    const { page, faults } = watched
    await page.locator('#list', { hasText: '<img src=x' }).waitFor()
    await expect.poll(() => page.locator('img, main script, iframe, object').count()).toBe(0)
    // what cannot be seen, or turns text around, is shown as what it is
    const text = String(await page.evaluate('document.body.textContent'))
    expect(text).toContain(String.raw`abc\u{202e}gnp.exe\u{202c}`)
    expect(text).not.toMatch(/\p{Bidi_Control}/u)
    // a long text does not push anything out of the page
    expect(await tooWide(page)).toEqual([])
    expect(await seriousFindings(page)).toEqual([])

    for (const name of NAMES.filter((one) => one !== LONG)) {
      await page.goto(`${url}/?resource=${encodeURIComponent(`Pipe/${name}`)}`)
      await page.locator('#one .facts').first().waitFor()
      await expect.poll(() => page.locator('img, main script, iframe, object').count()).toBe(0)
      expect(await tooWide(page)).toEqual([])
    }
    // every link stays here
    const links = (await page.evaluate('[...document.links].map(({ href }) => href)')) as readonly string[] // of hrefs
    for (const link of links) expect(link.startsWith(url)).toBe(true)
    // and an address is no way in either
    await page.goto(
      `${url}/?resource=${encodeURIComponent(`Pipe/${MARKUP}x`)}&q=${encodeURIComponent(MARKUP)}`,
    )
    await page.locator('#one', { hasText: 'there is no resource' }).waitFor()
    await page.goto(`${url}/?kind=${encodeURIComponent(MARKUP)}&page=-1&sort=x#${encodeURIComponent(MARKUP)}`)
    await page.locator('#matches', { hasText: 'is not known' }).waitFor()
    await expect.poll(() => page.locator('img, main script').count()).toBe(0)
    expect(faults().filter((fault) => !/status of 40[04]/.test(fault))).toEqual([])
  })
})
