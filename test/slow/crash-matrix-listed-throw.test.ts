import { describeListedMatrix } from './support/matrix.ts'

describeListedMatrix('throw')
