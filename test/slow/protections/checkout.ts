import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../../support/process.ts'
import type { Patch } from './mutation.ts'

/** A copy of the sources in which something may be broken. */
export interface Checkout extends Disposable {
  readonly main: string
  readonly dir: string
  /** What Node compiled. */
  readonly cache: string
}

/** A copy of this checkout's sources. @throws when a patch has no place in it, or more than one */
export function copyOf(patches: readonly Patch[]): Checkout {
  const dir = mkdtempSync(join(tmpdir(), 'pipewright-broken-'))
  for (const part of ['src', 'package.json']) cpSync(join(ROOT, part), join(dir, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
  const checkout: Checkout = {
    dir,
    main: join(dir, 'src', 'main.ts'),
    cache: join(dir, 'compiled'),
    [Symbol.dispose]() {
      rmSync(dir, { recursive: true, force: true })
    },
  }
  try {
    for (const patch of patches) applyTo(dir, patch)
    return checkout
  } catch (error) {
    checkout[Symbol.dispose]()
    throw error
  }
}

function applyTo(dir: string, { file, from, to }: Patch): void {
  const path = join(dir, 'src', file)
  const places = readFileSync(path, 'utf8').split(from)
  if (places.length !== 2) {
    throw new Error(
      `${places.length - 1} places in src/${file} read ${JSON.stringify(from)}, and it must be one`,
    )
  }
  writeFileSync(path, places.join(to))
}
