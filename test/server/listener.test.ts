import { networkInterfaces } from 'node:os'
import { afterEach, expect, test, vi } from 'vitest'
import { fakeParts } from './fake-parts.ts'
import { running } from './running.ts'

const HAS_IPV6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
)

afterEach(() => {
  vi.restoreAllMocks()
})

/** As a kernel that was started with `ipv6.disable=1`. */
function withoutIpv6(): void {
  const { TCP } = Reflect.apply(Reflect.get(process, 'binding') as (name: string) => never, process, [
    'tcp_wrap',
  ]) as { readonly TCP: { readonly prototype: { bind6(): number } } }
  const EAFNOSUPPORT = -97
  vi.spyOn(TCP.prototype, 'bind6').mockReturnValue(EAFNOSUPPORT)
}

async function answers(port: string, host: string): Promise<boolean> {
  return fetch(`http://${host}:${port}/healthz`).then(
    ({ status }) => status === 200,
    () => false,
  )
}

test.each([
  ['::', [true, true], '127.0.0.1'],
  ['0:0::0', [true, true], '127.0.0.1'],
  ['0.0.0.0', [true, false], '127.0.0.1'],
  ['localhost', [true, false], 'localhost'],
  ['127.0.0.1', [true, false], '127.0.0.1'],
  ['::1', [false, true], '[::1]'],
  ['::ffff:127.0.0.1', [true, false], '[::ffff:7f00:1]'],
])('on %s, IPv4 and IPv6 are answered: %j', async (host, families, named) => {
  if (!HAS_IPV6 && host.includes('::1')) return
  const { url } = await running(fakeParts({ listen: { host, port: 0 } }))
  const { hostname, port } = new URL(url)
  expect(hostname).toBe(named)
  const said = [await answers(port, '127.0.0.1'), await answers(port, '[::1]')]
  expect(said).toEqual(HAS_IPV6 ? families : [families[0], false])
  expect(await answers(port, named)).toBe(true)
})

test.each(['::', '0:0::0', '0.0.0.0'])('without IPv6 in the kernel, %s is IPv4', async (host) => {
  withoutIpv6()
  const { url } = await running(fakeParts({ listen: { host, port: 0 } }))
  const { hostname, port } = new URL(url)
  expect(hostname).toBe('127.0.0.1')
  expect(await answers(port, '127.0.0.1')).toBe(true)
})

test('without IPv6 in the kernel, an IPv6 address is an error that names it', async () => {
  withoutIpv6()
  await expect(running(fakeParts({ listen: { host: '::1', port: 0 } }))).rejects.toThrow(
    /cannot listen on ::1:0: .*EAFNOSUPPORT.*give another address with --listen/,
  )
})
