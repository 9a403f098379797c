import type { Home } from '../../src/sandbox/storage.ts'

/** Reads the pipe `counter`, and writes it with one more: what is lost unless writers wait for one another. */
export function addOne(home: Home): void {
  home.transaction(() => {
    const pipe = home.pipe('counter')
    if (pipe === undefined) throw new Error('there is no counter')
    home.putPipe({ ...pipe, body: { count: Number(pipe.body['count']) + 1 } })
  })
}
