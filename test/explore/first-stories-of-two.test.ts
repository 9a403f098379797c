import { exploreFirst } from './first-stories.ts'
import { POD_WORLDS } from './pod-worlds.ts'

/* A fault of the fence or of a takeover needs two faults to show. */

const DEEP = ['pods', 'pods and endpoint']

exploreFirst(POD_WORLDS, ({ name }) => (DEEP.includes(name) ? 2 : 1))
