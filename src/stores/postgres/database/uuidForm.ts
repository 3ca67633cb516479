/** How Postgres writes a UUID; it refuses to compare one with text of another form. */
export const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
