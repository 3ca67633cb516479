import { AppError } from '../../src/errors.js'

/** The error with which something is refused; an answer in its place fails the test. */
export const refusal = async (work: Promise<unknown>): Promise<AppError> => {
  const answer = await work.catch((error: unknown) => error)
  if (answer instanceof AppError) return answer
  throw new Error('It was answered', { cause: answer })
}
