import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/* A real small disk. It takes the right to mount. */

export function mayMount(): boolean {
  if (process.platform !== 'linux' || process.geteuid?.() !== 0) return false
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** A disk of its own at `folder`, gone afterwards. */
export function mountDisk(folder: string, size: string) {
  mkdirSync(folder, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder])
  const ballast = join(folder, 'ballast')
  return {
    folder,
    fill() {
      for (let piece = 1 << 20; piece >= 512; piece /= 2) {
        try {
          for (;;) writeFileSync(ballast, Buffer.alloc(piece), { flag: 'a' })
        } catch {
          // it is full for pieces of this size
        }
      }
    },
    free: () => rmSync(ballast, { force: true }),
    remount: (option: 'ro' | 'rw') => void execFileSync('mount', ['-o', `remount,${option}`, folder]),
    [Symbol.dispose]: () => void execFileSync('umount', ['--lazy', folder]),
  }
}
