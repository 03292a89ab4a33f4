// Replaces steering.js in a report, from which nothing can be changed.
export function action() {
  return null;
}

export function steering() {
  return null;
}

export function nodeSteering() {
  return null;
}
