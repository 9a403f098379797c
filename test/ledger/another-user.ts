import { chmod } from 'node:fs/promises'

const NOBODY = 65_534

/**
 * Runs `work` as one who may read `folder` and not write it. Root may write everything, so root turns into
 * somebody else for that time; everybody else just loses the right.
 */
export async function asAnotherUser(folder: string, work: () => Promise<void>): Promise<void> {
  await chmod(folder, 0o555)
  const isRoot = process.geteuid?.() === 0
  try {
    if (isRoot) process.seteuid?.(NOBODY)
    await work()
  } finally {
    if (isRoot) process.seteuid?.(0)
    await chmod(folder, 0o755)
  }
}
