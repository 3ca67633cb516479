/** A start that failed because of one variable. `problem` is for operators: it holds no secret. */
export class StartError extends Error {
  readonly variable: string
  readonly problem: string

  constructor(variable: string, problem: string, options?: ErrorOptions) {
    super(`${variable}: ${problem}`, options)
    this.name = 'StartError'
    this.variable = variable
    this.problem = problem
  }
}
