import { rmSync, symlinkSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { pipeManifest } from '../support/manifests.ts'
import { runHere } from '../support/command.ts'
import { until } from '../support/until.ts'
import { createScenario, eachFound } from './scenario.ts'

/* The way of somebody who writes manifests: what `validate` says of the mistakes, and what the ignore file keeps away from the daemon. */

const TEMPLATE = `{{- if .Values.big }}\n${pipeManifest('templated')}{{- end }}\n`

describe('somebody who writes manifests', () => {
  test('is told every mistake in one round, and by the name of a file only those in it', async () => {
    await using scenario = await createScenario()
    const { workspace } = scenario
    const wrong = pipeManifest('orders').replace(/^spec:/m, 'policy: {interval: 10}\nspec:')
    workspace.write('manifests/orders.yaml', wrong.replace(/service: \w+/, 'service: nowhere'))
    workspace.write('manifests/charts/templated.yaml', TEMPLATE)
    const validate = (...args: readonly string[]) =>
      runHere(['validate', '--manifests', workspace.manifests, ...args])

    const all = await validate('-o', 'compact')
    expect(all.code).toBe(1)
    for (const code of ['[wrong-type]', '[unknown-service]', '[template]']) expect(all.stdout).toContain(code)
    const named = await validate('-o', 'compact', workspace.path('manifests/orders.yaml'))
    expect(named.stdout.trim().split('\n')).toHaveLength(2)
    expect(named.stdout).not.toContain('templated.yaml')

    scenario.writePipe('orders')
    workspace.write('manifests/.pipewrightignore', 'charts/\n')
    const corrected = await validate()
    expect(corrected.stdout).toContain('2 manifests, no findings.')
    expect(corrected.code).toBe(0)
  })

  test('has what the ignore file names left alone, also while that file is a link to nothing', async () => {
    await using scenario = await createScenario()
    const { workspace, platform } = scenario
    workspace.write('manifests/.pipewrightignore', 'drafts/\n')
    workspace.write('manifests/drafts/later.yaml', pipeManifest('later'))
    scenario.writePipe('orders')
    const live = await scenario.start()
    await live.says('Pipe/orders', 'Ready')
    await eachFound(scenario)

    const ignoreFile = workspace.path('manifests/.pipewrightignore')
    rmSync(ignoreFile)
    symlinkSync('nowhere', ignoreFile)
    scenario.writePipe('payments')
    await until('the log says that nothing was read', () =>
      live.program
        .log()
        .some(({ detail }) => String(detail).includes('is a link to a file that is not there')),
    )
    expect(scenario.creates()).toEqual(['orders'])

    rmSync(ignoreFile)
    workspace.write('manifests/.pipewrightignore', 'drafts/\norders.yaml\n')
    await live.says('Pipe/payments', 'Ready')
    await live.says('Pipe/orders', 'Orphaned')
    expect(scenario.creates()).toEqual(['orders', 'payments'])
    expect(
      platform
        .pipes()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(['orders', 'payments'])
  })
})
