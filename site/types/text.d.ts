// Files that the build puts into scripts as text.
declare module "*.py" {
  const text: string;
  export default text;
}
