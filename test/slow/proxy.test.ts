import { describe, test } from 'vitest'
import { startProxy } from '../support/proxy.ts'
import { until } from '../support/until.ts'
import { createAuthority } from './support/authority.ts'
import { untilStill } from './support/still.ts'
import { createStory } from './support/story.ts'

/* Law 1 through a real proxy: the whole program, a platform behind TLS, and a proxy that loses what it is given. */

const HOST = 'platform.example'
const PASSWORD = 'planted-4711'

/** A story whose platform is reached by nothing but the proxy. */
async function storyBehindProxy() {
  await using stack = new AsyncDisposableStack()
  const authority = stack.use(createAuthority(HOST))
  const story = stack.use(await createStory({ tls: authority }))
  const port = Number(new URL(story.platform.url).port)
  const proxy = stack.use(await startProxy({ hosts: { [`${HOST}:443`]: port }, login: `keeper:${PASSWORD}` }))
  const kept = stack.move()
  return {
    story,
    proxy,
    settings: [
      '--base-url',
      `https://${HOST}`,
      '--ca-file',
      authority.file,
      '--request-timeout',
      '3s',
      '--interval',
      '1s',
    ],
    env: { HTTPS_PROXY: proxy.url.replace('://', `://keeper:${PASSWORD}@`) },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

describe.concurrent('law 1 through a proxy', () => {
  test('a tunnel that is not opened leaves nothing unknown; replies that are lost leave one POST in all', async ({
    expect,
  }) => {
    await using world = await storyBehindProxy()
    const { story, proxy, settings, env } = world
    await proxy.set({ type: 'refuse', status: 407 })
    story.writePipe('orders')
    const live = await story.start(settings, { env })
    const closed = await until('the pipe to say that the proxy wants a password', async () => {
      const shown = await live.resource('Pipe/orders')
      return shown?.message.includes('correct them in HTTPS_PROXY') === true ? shown : undefined
    })
    expect(closed.reason).not.toBe('OutcomeUnknown')
    expect(story.platform.requests()).toEqual([])

    // From now on every reply to a create is lost on the way back, when the work is done.
    story.platform.whenCreated = () => proxy.set({ type: 'cut all' }).then(() => 'silence')
    await proxy.set({ type: 'pass' })
    await live.says('Pipe/orders', 'OutcomeUnknown')
    await live.reads(() => story.writePipe('orders', { policy: { interval: '1s' } }))
    await live.reads(() => story.writePipe('customers'))
    await live.says('Pipe/customers', 'OutcomeUnknown')
    await live.stop()
    const again = await story.start(settings, { env })
    await again.says('Pipe/orders', 'OutcomeUnknown')
    expect(story.posts('orders')).toHaveLength(1)
    expect(story.platform.pipes()).toHaveLength(2)
    const said = `${live.program.stdout()}${live.program.stderr()}${again.program.stdout()}`
    expect(said).toContain('the proxy http://127.0.0.1')
    expect(said).not.toContain(PASSWORD)
    expect(said).not.toContain(Buffer.from(`keeper:${PASSWORD}`).toString('base64'))
  })

  test('a process that stood still between the tunnel and the first byte sends nothing late', async ({
    expect,
  }) => {
    await using world = await storyBehindProxy()
    const { story, proxy, settings, env } = world
    story.writePipe('orders')
    const live = await story.start([...settings, '--request-timeout', '15s', '--shutdown-grace', '20s'], {
      env: { ...env, PIPEWRIGHT_FAILPOINT: 'after-connect=pause' },
    })
    await untilStill(live.program.pid)
    expect(proxy.asked.length).toBeGreaterThan(0)
    const stoodAt = performance.now()
    // More than five seconds after the intent: by then it is too late.
    await until('it to be too late', () => performance.now() - stoodAt > 6_000)
    live.program.signal('SIGCONT')
    await until('the create to have failed', async () =>
      (await live.history('Pipe/orders')).some(
        ({ type, action }) => type === 'action' && action === 'create',
      ),
    )
    const [first] = (await live.history('Pipe/orders')).filter(({ action }) => action === 'create')
    expect(first?.message).toContain('no request was sent')
    await until('a later attempt, which is one', () => story.posts('orders')[0])
    await live.says('Pipe/orders', 'Ready')
    expect(story.posts('orders')).toHaveLength(1)
  })
})
