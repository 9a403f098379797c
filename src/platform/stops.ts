/** Tells of the end of a signal. A process has few signals and many requests: each signal is listened to once. */
export interface Stops {
  /** @returns ends it; `onStop` is called at most once, and not when the signal was aborted before */
  listen(signal: AbortSignal, onStop: () => void): () => void
}

export function createStops(): Stops {
  const listeners = new WeakMap<AbortSignal, Set<() => void>>()

  function listenersOf(signal: AbortSignal): Set<() => void> {
    const known = listeners.get(signal)
    if (known !== undefined) return known
    const made = new Set<() => void>()
    listeners.set(signal, made)
    signal.addEventListener(
      'abort',
      () => {
        // Those who listen now, and nobody whom one of them adds.
        const all = [...made]
        for (const onStop of all) onStop()
      },
      { once: true },
    )
    return made
  }

  return {
    listen(signal, onStop) {
      const all = listenersOf(signal)
      all.add(onStop)
      return () => all.delete(onStop)
    },
  }
}
