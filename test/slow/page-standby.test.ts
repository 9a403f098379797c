import { expect, test } from 'vitest'
import { startApiModel } from '../kubernetes/api-model.ts'
import { startCountingPlatform } from '../kubernetes/counting-platform.ts'
import { acts, startPod, writeCommon } from '../kubernetes/pods.ts'
import { pipeManifest } from '../support/manifests.ts'
import { resourcesOf, urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'
import { openPage, seriousFindings, tooWide } from './page-browser.ts'

/* The page of a process that stands by: it says so, shows what is known, and offers nothing that it cannot do. */

const LEASE_MS = 2_000
const TOKEN = 'planted-admin-token-3f1'

async function startWorld(stack: AsyncDisposableStack) {
  const workspace = stack.use(createWorkspace())
  const api = stack.use(await startApiModel())
  const platform = stack.use(await startCountingPlatform(() => 'answered'))
  writeCommon(workspace)
  workspace.write('manifests/orders.yaml', pipeManifest('orders'))
  workspace.write('manifests/odd.yaml', pipeManifest('odd', { policy: { healthyStates: '[Idle]' } }))
  workspace.write('credentials/admin/token', TOKEN)
  const settings = { 'admin-token-file': `${workspace.credentials}/admin/token` }
  const options = { workspace, api, platform: platform.url, leaseMs: LEASE_MS, settings }
  const one = await startPod('one', options, stack)
  await acts(one)
  const two = await startPod('two', options, stack)
  await until('it to stand by', () => two.program.stdout().includes('standing by'))
  const [ofOne, ofTwo] = [await urlOf(one.program), await urlOf(two.program)]
  await until('it to know them', async () =>
    (await resourcesOf(ofTwo)).some(({ key, reason }) => key === 'Pipe/odd' && reason === 'UnhealthyState'),
  )
  return { one, two, ofOne, ofTwo, workspace }
}

test('it says at first sight that it stands by and who acts, and later that it acts itself, without being loaded anew', async () => {
  await using stack = new AsyncDisposableStack()
  const { one, two, ofOne, ofTwo } = await startWorld(stack)
  await using watched = await openPage(ofTwo)
  const { page, faults } = watched
  const standing = page.locator('#standing')
  await standing.getByText('This process is on standby, and ').waitFor()
  await expect.poll(() => standing.getByRole('link').getAttribute('href')).toBe(ofOne)
  expect(await standing.textContent()).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/)
  await expect.poll(() => page.locator('#verdict').textContent()).toBe('1 of 3 resources needs attention.')
  await expect.poll(() => page.locator('#unwell > li').count()).toBe(1)
  // The leader counts it.
  expect(await (await fetch(`${ofTwo}/metrics`)).text()).toMatch(
    /pipewright_problems\{severity="warning"\} 0$/m,
  )
  // Nothing that only the other one can do, or know.
  await expect.poll(() => page.getByRole('button', { name: /^Check/ }).count()).toBe(0)
  await expect.poll(() => page.getByText('on standby and sends no requests.').isVisible()).toBe(true)
  expect(await seriousFindings(page)).toEqual([])
  await page.setViewportSize({ width: 360, height: 800 })
  expect(await tooWide(page)).toEqual([])

  await page.getByRole('link', { name: 'Pipe/odd' }).first().click()
  await page.getByRole('heading', { name: 'Pipe/odd' }).waitFor()
  await expect.poll(() => standing.isVisible()).toBe(true)
  await expect.poll(() => page.getByRole('button', { name: 'Check now' }).count()).toBe(0)
  await expect.poll(() => page.getByText('never', { exact: true }).isVisible()).toBe(false)

  one.program.signal('SIGKILL')
  await acts(two)
  await standing.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Check now' }).waitFor()
  await page.getByText('Last check').waitFor()
  expect(faults()).toEqual([])
})

test('while nobody acts, it says that, and refuses to act', async () => {
  await using stack = new AsyncDisposableStack()
  const { one, two, ofTwo } = await startWorld(stack)
  await using watched = await openPage(ofTwo)
  // Its predecessor gives the Lease back, which it sees, and cannot take.
  two.toApi.set('silent')
  one.program.signal('SIGTERM')
  await one.program.ended
  const answer = await fetch(`${ofTwo}/-/reconcile`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}` },
  })
  expect(answer.status).toBe(409)
  await watched.page.locator('#standing').getByText('this page might be out of date').waitFor()
})
