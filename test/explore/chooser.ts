/** One way in which a story can go on. */
export interface Option {
  readonly name: string
  /** 0 for what happens every day; 1 for a fault, an edit, or a person's word. */
  readonly cost: number
}

/** A place at which a story could have gone on otherwise. */
export interface Choice {
  readonly options: readonly Option[]
  readonly taken: number
}

/** Makes the choices of one run: first those it was given, then the first option each time. */
export interface Chooser {
  choose<Name extends string>(options: readonly (Option & { readonly name: Name })[]): Name
  readonly made: readonly Choice[]
  readonly cost: number
  /** Whether the script chose an option that is not there: the story cannot happen. */
  readonly isLost: boolean
}

/**
 * @param script indices of options; an index beyond the options is a mistake, and throws
 * @param pick what is taken when the script is over
 */
export function createChooser(
  script: readonly number[],
  pick: (options: readonly Option[]) => number = () => 0,
): Chooser {
  const made: Choice[] = []
  let [cost, isLost] = [0, false]
  return {
    choose(options) {
      const taken = script[made.length] ?? pick(options)
      const option = options[taken]
      isLost ||= option === undefined
      if (option === undefined) throw new Error(`there is no option ${taken} at choice ${made.length}`)
      made.push({ options, taken })
      cost += option.cost
      return option.name
    },
    made,
    get cost() {
      return cost
    },
    get isLost() {
      return isLost
    },
  }
}

/** The scripts of the runs that differ from this one at one choice that it was not given, for at most `most` in all. */
export function otherScripts(
  chooser: Pick<Chooser, 'made'>,
  given: number,
  most: number,
): readonly (readonly number[])[] {
  const scripts: number[][] = []
  let cost = 0
  const taken = chooser.made.map((choice) => choice.taken)
  for (const [place, choice] of chooser.made.entries()) {
    if (place >= given) {
      for (const [index, option] of choice.options.entries())
        if (index !== choice.taken && cost + option.cost <= most)
          scripts.push([...taken.slice(0, place), index])
    }
    cost += choice.options[choice.taken]?.cost ?? 0
  }
  return scripts
}
