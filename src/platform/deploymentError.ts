/** Why nothing, or not everything, was deployed. For operators: it holds no secret. */
export class DeploymentError extends Error {
  constructor(problem: string, options?: ErrorOptions) {
    super(problem, options)
    this.name = 'DeploymentError'
  }
}
