import { AppError } from '../../src/errors.js'

/** Returns the AppError with which the promise rejects; throws if it fulfills. */
export const rejectionOf = async (work: Promise<unknown>): Promise<AppError> => {
  const result = await work.catch((error: unknown) => error)
  if (result instanceof AppError) return result
  throw new Error('Expected an AppError', { cause: result })
}
