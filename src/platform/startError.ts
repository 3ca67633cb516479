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

/** Tells operators why nothing, or not everything, was deployed. It holds no secret. */
export class DeploymentError extends Error {
  constructor(problem: string, options?: ErrorOptions) {
    super(problem, options)
    this.name = 'DeploymentError'
  }
}
