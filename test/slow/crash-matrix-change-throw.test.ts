import { describeChangeMatrix } from './support/change-matrix.ts'

describeChangeMatrix('throw')
