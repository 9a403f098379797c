import nock from 'nock'

/**
 * Runs `use` with the network replaced by mocks, and fails when a request was made that nobody mocked, or a mock was not
 * used. Hosts are addresses, which need no DNS.
 */
export async function mocked<T>(use: () => Promise<T>): Promise<T> {
  const unmatched: string[] = []
  function onNoMatch(request: {
    readonly method?: string
    readonly url?: string
    readonly path?: string
  }): void {
    unmatched.push(`${request.method} ${request.url ?? request.path}`)
  }
  if (!nock.isActive()) nock.activate()
  nock.disableNetConnect()
  nock.emitter.on('no match', onNoMatch)
  try {
    const result = await use()
    if (unmatched.length > 0) throw new Error(`nobody mocked: ${unmatched.join(', ')}`)
    const unused = nock.pendingMocks()
    if (unused.length > 0) throw new Error(`not used: ${unused.join(', ')}`)
    return result
  } finally {
    nock.emitter.off('no match', onNoMatch)
    nock.cleanAll()
    nock.enableNetConnect()
    nock.restore()
  }
}
