import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { openPage, seriousFindings } from './page-browser.ts'
import { createScenario, eachFound, type Scenario } from './scenario.ts'

/* A person acts on the page: asks for a check, lets creations through, pastes what it says, follows its links. */

const TOKEN = 'planted-admin-token-8c2'

function withToken({ workspace }: Scenario): readonly string[] {
  workspace.write('credentials/admin/token', TOKEN)
  return ['--admin-token-file', `${workspace.credentials}/admin/token`]
}

function reads({ platform }: Scenario): number {
  return platform.requests().filter(({ method }) => method === 'GET').length
}

async function give(page: Page, token: string): Promise<void> {
  await page.getByLabel('Admin token').fill(token)
  await page.keyboard.press('Enter')
}

describe('the page', () => {
  test('checks a resource now, with the admin token, which it asks for once', async () => {
    await using scenario = await createScenario()
    scenario.writePipe('orders')
    const live = await scenario.start(withToken(scenario))
    await live.says('Pipe/orders', 'Ready')
    // What was created is read once more after ten seconds; this comes before, so that nothing else reads it meanwhile.
    live.program.signal('SIGHUP')
    await eachFound(scenario)
    await using watched = await openPage(`${live.url}/?resource=Pipe/orders`)
    const { page, faults } = watched
    const before = reads(scenario)

    await page.getByRole('button', { name: 'Check now' }).click()
    await page.getByRole('dialog', { name: 'Check Pipe/orders now' }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await give(page, 'another')
    await page.getByText('This token is not the admin token.').waitFor()
    expect(reads(scenario)).toBe(before)
    await give(page, TOKEN)
    await page.locator('#told', { hasText: 'Checked Pipe/orders.' }).waitFor()
    const after = reads(scenario)
    expect(after).toBeGreaterThan(before)

    // all of it, without being asked again; the token is in no address and not kept beyond the tab
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Check all now' }).click()
    await page.locator('#told', { hasText: 'Checked everything.' }).waitFor()
    expect(reads(scenario)).toBeGreaterThan(after)
    expect(page.url()).not.toContain(TOKEN)
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(TOKEN)
    expect(faults().filter((fault) => !fault.includes('401'))).toEqual([])
    await live.stop()
    expect(live.program.stdout()).not.toContain(TOKEN)
  })

  test('shows when the last check was, also where it changed nothing, and leaves what is open as it is', async () => {
    await using scenario = await createScenario()
    scenario.writePipe('orders')
    scenario.writePipe('often', { more: 'policy:\n  interval: 7s\n' })
    const live = await scenario.start([...withToken(scenario), '--interval', '1h'])
    await live.says('Pipe/orders', 'Ready')
    await live.says('Pipe/often', 'Ready')
    await using watched = await openPage(`${live.url}/?resource=Pipe/orders`)
    const { page, faults } = watched
    const checkedAt = async () => Number(await page.locator('#checked').getAttribute('data-at'))

    const asked = Date.now()
    await page.getByRole('button', { name: 'Check now' }).click()
    await give(page, TOKEN)
    await page.locator('#told', { hasText: 'Checked Pipe/orders.' }).waitFor()
    await until('the page to say when', async () => (await checkedAt()) >= asked)

    // Nobody asks for these, and all that they change is when they were.
    await page.goto(`${live.url}/?resource=Pipe/often`)
    for (const round of [1, 2]) {
      if (round === 2) await page.locator('#request summary').click()
      const since = Date.now()
      await until('a later check to be shown', async () => (await checkedAt()) > since)
    }
    await expect.poll(() => page.locator('#request pre').isVisible()).toBe(true)
    expect(faults()).toEqual([])
  })

  test('says which flag turns that on, where there is no token', async () => {
    await using scenario = await createScenario()
    const live = await scenario.start()
    await using watched = await openPage(live.url)
    const { page, faults } = watched
    await page.getByRole('button', { name: 'Check all now' }).click()
    await page.getByRole('dialog', { name: 'Switched off' }).getByText('--admin-token-file FILE').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    expect(faults()).toEqual([])
  })

  test('lets through what the create limit holds back, when it is told twice', async () => {
    await using scenario = await createScenario()
    const names = ['a', 'b', 'c']
    for (const name of names) scenario.writePipe(name)
    const live = await scenario.start([...withToken(scenario), '--max-creates', '2'])
    await live.says('Pipe/a', 'CreateLimit')
    await using watched = await openPage(live.url)
    const { page, faults } = watched
    await page.locator('#unwell h3', { hasText: '3 resources' }).waitFor()
    await expect.poll(() => page.locator('#unwell > li').count()).toBe(1)
    await page.getByRole('button', { name: 'Let this through' }).click()
    await page.getByRole('dialog', { name: 'Let 3 creations through?' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(scenario.creates()).toEqual([])
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Let this through')

    // While the question stands there, a commit adds another one: it is not what the person saw.
    await page.getByRole('button', { name: 'Let this through' }).click()
    scenario.writePipe('d')
    await live.says('Pipe/d', 'CreateLimit')
    await give(page, TOKEN)
    await page.locator('#told', { hasText: 'so no action was allowed' }).waitFor()
    expect(scenario.creates()).toEqual([])

    await page.locator('#unwell h3', { hasText: '4 resources' }).waitFor()
    await page.getByRole('button', { name: 'Let this through' }).click()
    await page.getByRole('button', { name: 'Let 4 creations through' }).click()
    await page.locator('#told', { hasText: 'Let through: Pipe/a, Pipe/b, Pipe/c, Pipe/d.' }).waitFor()
    await Promise.all([...names, 'd'].map((name) => live.says(`Pipe/${name}`, 'Ready')))
    expect(scenario.creates().toSorted()).toEqual([...names, 'd'])
    expect(faults().filter((fault) => !fault.includes('409'))).toEqual([])
  })

  test('what it says to write works where it is pasted', async () => {
    await using scenario = await createScenario()
    scenario.writePipe('stock', { more: 'policy:\n  interval: 1s\n  # a note\n' })
    const live = await scenario.start()
    await live.says('Pipe/stock', 'Ready')
    const pipe = scenario.platform.pipes().find(({ name }) => name === 'stock')
    scenario.platform.change(String(pipe?.['id']), { scaling: { replicas: 4 } })
    await live.says('Pipe/stock', 'Drifted')
    await using watched = await openPage(live.url)
    const { page } = watched
    const step = page.locator('#unwell .next li', { hasText: 'Or, to keep 4,' })
    const file = scenario.workspace.path('manifests', 'stock.yaml')
    await expect.poll(() => step.textContent()).toContain('under spec.scaling:')
    const to = (await step.locator('.copyable code').textContent()) ?? ''
    expect(to).toBe('replicas: 4')
    scenario.workspace.write('manifests/stock.yaml', readFileSync(file, 'utf8').replace('replicas: 1', to))
    await live.says('Pipe/stock', 'Ready')
    expect(scenario.creates()).toEqual(['stock'])
  })

  test('links the file and the commit, the Service, who needs it, and the manifest as YAML', async () => {
    await using scenario = await createScenario()
    scenario.writePipe('orders')
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
        cwd: scenario.workspace.manifests,
        encoding: 'utf8',
      }).trim()
    git('init', '--quiet')
    git('add', '.')
    git('commit', '--quiet', '--message', 'first')
    const commit = git('rev-parse', 'HEAD')
    const live = await scenario.start([
      '--repository-url',
      'https://git.example/acme/pipes/-/blob/{revision}/manifests/{file}#L{line}',
    ])
    await live.says('Pipe/orders', 'Ready')
    await using watched = await openPage(`${live.url}/?resource=Pipe/orders`)
    const { page } = watched
    const facts = page.locator('#one .facts').first()
    await expect
      .poll(() => facts.getByRole('link', { name: 'orders.yaml:1' }).getAttribute('href'))
      .toBe(`https://git.example/acme/pipes/-/blob/${commit}/manifests/orders.yaml#L1`)
    expect(
      await facts
        .getByRole('link', { name: commit.slice(0, 10) })
        .first()
        .getAttribute('href'),
    ).toBe(`https://git.example/acme/pipes/-/commit/${commit}`)
    const yaml = await fetch(`${live.url}/api/v1/resources/Pipe/orders/manifest`)
    expect(await yaml.text()).toContain('password:\n          secretRef:\n            name: kafka\n')
    await page.locator('#request summary').click()
    await expect
      .poll(() => page.locator('#request pre').textContent())
      .toContain('"password": "[secret kafka/password]"')
    await facts.getByRole('link', { name: 'analytics' }).click()
    await page.locator('#one h1', { hasText: 'Service/analytics' }).waitFor()
    await page.locator('#one', { hasText: 'Request budget' }).waitFor()
    await page.locator('#one .facts').getByRole('link', { name: 'Pipe/orders' }).click()
    await page.locator('#one h1', { hasText: 'Pipe/orders' }).waitFor()
    await page.locator('#back').click()
    await page.locator('#of-what', { hasText: '“first” by a' }).waitFor()
  })
})
