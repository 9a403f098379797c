import type { openStorage } from '../../src/sandbox/storage.ts'

/** Reads the pipe `counter`, and writes it with one more: what is lost unless writers wait for one another. */
export function addOne(storage: ReturnType<typeof openStorage>): void {
  storage.transaction(() => {
    const pipe = storage.get('pipe', 'counter')
    if (pipe === undefined) throw new Error('there is no counter')
    storage.put('pipe', 'counter', { ...pipe, body: { count: Number(pipe.body['count']) + 1 } })
  })
}
