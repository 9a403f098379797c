import { describe, expect, test } from 'vitest'
import { alertManifest } from '../support/manifests.ts'
import { until } from '../support/until.ts'
import { openPage, seriousFindings } from './page-browser.ts'
import { createScenario } from './scenario.ts'

/** Four pipes, one of which drifts, an alert that fires, and a manifest with a misspelt field. */
async function troubledScenario() {
  const scenario = await createScenario()
  const { workspace, platform } = scenario
  for (const name of ['orders', 'clicks', 'refunds', 'stock'])
    scenario.writePipe(name, { more: 'policy: {interval: 1s}' })
  workspace.write(
    'manifests/lag.yaml',
    `${alertManifest('lag', 'alert-1')}policy: {interval: 1s, healthyStates: [OK]}\n`,
  )
  const live = await scenario.start(['--interval', '1s'])
  await Promise.all(
    ['orders', 'clicks', 'refunds', 'stock'].map((name) => live.says(`Pipe/${name}`, 'Ready')),
  )
  const pipe = platform.pipes().find(({ name }) => name === 'stock')
  platform.change(String(pipe?.['id']), { scaling: { replicas: 7 } })
  platform.setAlert('alert-1', { state: 'ALERT' })
  workspace.write(
    'manifests/broken.yaml',
    'apiVersion: pipewright/v1\nkind: Pipe\nmetadata: {name: broken}\nspek: {}\n',
  )
  await live.says('Pipe/stock', 'Drifted')
  await live.says('Alert/lag', 'NotReady')
  await live.says('Pipe/broken', 'Invalid')
  return { scenario, live }
}

describe('the page of a running daemon', () => {
  test('says what is wrong, why and what to do; filters, opens, copies, goes back', async () => {
    const { scenario, live } = await troubledScenario()
    await using _ = scenario
    await using watched = await openPage(live.url, {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const { page, faults } = watched

    // the first sentence, then what is not well: worst first
    await expect
      .poll(() => page.locator('h1').first().textContent())
      .toMatch(/^3 of 7 resources need attention/)
    const cards = page.locator('#unwell > li')
    // Without Git there is no commit.
    await expect.poll(() => cards.nth(1).textContent()).toMatch(/revision content-[0-9a-f]{12}/)
    await expect
      .poll(() => cards.locator('h3 .key').allTextContents())
      .toEqual(['Pipe/broken', 'Pipe/stock', 'Alert/lag'])
    const drifted = cards.nth(1)
    await expect
      .poll(() => drifted.textContent())
      .toContain('scaling.replicas: the manifest asks for 1, the platform has 7')
    await expect.poll(() => cards.first().locator('pre mark').allTextContents()).toContain('spek')

    // the next step can be copied, and that is announced
    await drifted.getByRole('button', { name: 'Copy replicas: 7' }).click()
    await page.locator('#announce', { hasText: 'Copied: replicas: 7' }).waitFor({ state: 'attached' })
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe('replicas: 7')

    // a filter has its address; so has a resource; "back" goes back
    await page.locator('#q').fill('refunds')
    await page.locator('#matches', { hasText: '1 of 7 match' }).waitFor()
    expect(new URL(page.url()).search).toBe('?q=refunds')
    await page.locator('#attention-more', { hasText: 'No matching resource needs attention.' }).waitFor()
    const story = page.locator('#entries .key')
    await until('what changed to be that of the filter', async () =>
      (await story.allTextContents()).every((key) => key === 'Pipe/refunds'),
    )
    await page.locator('#list').getByRole('link', { name: 'Pipe/refunds' }).click()
    await page.locator('#one h1', { hasText: 'Pipe/refunds' }).waitFor()
    expect(new URL(page.url()).search).toBe('?q=refunds&resource=Pipe/refunds')
    await page.locator('[id="one-title"]:focus').waitFor()
    await page.locator('#one .fields').waitFor()
    await expect.poll(() => page.locator('#one .story').textContent()).toContain('was created')
    await page.goBack()
    await page.locator('#matches', { hasText: '1 of 7 match' }).waitFor()
    // once the list is there again
    await page.locator('[id="row-Pipe/refunds"]:focus').waitFor()
    await page.goBack()
    await page.locator('#matches', { hasText: '7 in all' }).waitFor()
    await expect.poll(() => page.locator('#q').inputValue()).toBe('')

    // sorted by the keyboard: worst first, then the other way round
    await page.locator('#sort-status').focus()
    await page.keyboard.press('Enter')
    await page.locator('th[aria-sort=ascending] #sort-status').waitFor()
    await expect.poll(() => page.locator('.list tbody .key').first().textContent()).toBe('Pipe/broken')
    await page.keyboard.press('Enter')
    await page.locator('th[aria-sort=descending] #sort-status').waitFor()
    await expect.poll(() => page.locator('.list tbody .key').last().textContent()).toBe('Pipe/broken')

    // a link that somebody sent opens just that
    await page.goto(`${live.url}/?resource=Pipe/stock`)
    await page.locator('tr.differs').waitFor()
    await expect
      .poll(() => page.locator('tr.differs td').allTextContents())
      .toEqual(['scaling.replicas', '1', '7', 'differs'])
    await page.goto(`${live.url}/?resource=Pipe/nothing`)
    await page.locator('#one', { hasText: 'there is no resource "Pipe/nothing"' }).waitFor()
    expect(faults().filter((fault) => !fault.includes('404'))).toEqual([])
  })

  test('tells changes as they come, and is honest about a lost connection', async () => {
    await using scenario = await createScenario()
    scenario.writePipe('orders', { more: 'policy: {interval: 1s}' })
    const first = await scenario.start()
    await first.says('Pipe/orders', 'Ready')
    await using watched = await openPage(first.url, { mayLose: true })
    const { page, faults } = watched
    await page
      .locator('h1', { hasText: 'No problems: 2 resources, 1 of them in a state of unknown health.' })
      .waitFor()

    // a change on the platform, and one in Git, without a reload
    const [pipe] = scenario.platform.pipes()
    scenario.platform.change(String(pipe?.['id']), { scaling: { replicas: 3 }, state: 'Paused' })
    await page.locator('h1', { hasText: 'attention' }).waitFor()
    await page.locator('#list', { hasText: 'Paused' }).waitFor()
    scenario.writePipe('clicks')
    await page.locator('#list', { hasText: 'Pipe/clicks' }).waitFor()
    await page.locator('#entries .entry.commit', { hasText: 'Pipe/clicks' }).waitFor()

    // the daemon is gone: the page says so, and since when; what it shows is marked as old
    const { port } = new URL(first.url)
    first.program.signal('SIGKILL')
    await first.program.ended
    await page.locator('#connection.lost[role=status]', { hasText: 'connection lost' }).waitFor()
    await page.locator('#lost', { hasText: /Connection lost\. This page shows the state of / }).waitFor()
    await expect.poll(() => page.locator('body.old').count()).toBe(1)
    await expect.poll(() => page.locator('#list').textContent()).toContain('Pipe/clicks')
    expect(await seriousFindings(page)).toEqual([])

    // it comes back on the same port, with something new
    scenario.writePipe('later')
    const second = await scenario.start(['--listen', `127.0.0.1:${port}`])
    await page.locator('#connection.live').waitFor()
    await page.locator('#list', { hasText: 'Pipe/later' }).waitFor()
    await expect.poll(() => page.locator('#lost').isVisible()).toBe(false)
    await expect.poll(() => page.locator('body.old').count()).toBe(0)
    await until('the state of the pipe to be told', async () =>
      ((await page.locator('#list').textContent()) ?? '').includes('Paused'),
    )
    expect(second.url).toBe(first.url)
    expect(faults()).toEqual([])
  })
})
