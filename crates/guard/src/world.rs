//! What the guard is told about the world, since it does not look.

/// Where a command would run.
///
/// ```
/// use bashtion_guard::World;
/// let world = World::new("/home/dev/project", "/home/dev");
/// assert_eq!(world.cwd(), "/home/dev/project");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct World {
    cwd: String,
    home: String,
    workspaces: Vec<String>,
}

impl World {
    /// The working directory, which is also the workspace, and the home of the user.
    pub fn new(cwd: impl Into<String>, home: impl Into<String>) -> Self {
        let cwd = crate::paths::normalise(&cwd.into());
        Self { workspaces: vec![cwd.clone()], cwd, home: crate::paths::normalise(&home.into()) }
    }

    /// Directories that count as the workspace, beside the working directory.
    #[must_use]
    pub fn workspace(mut self, root: impl AsRef<str>) -> Self {
        let root = crate::paths::normalise(root.as_ref());
        if !self.workspaces.contains(&root) {
            self.workspaces.push(root);
        }
        self
    }

    /// The working directory.
    pub fn cwd(&self) -> &str {
        &self.cwd
    }

    /// The home directory.
    pub fn home(&self) -> &str {
        &self.home
    }

    /// The directories that belong to the task.
    pub fn workspaces(&self) -> &[String] {
        &self.workspaces
    }

    /// The name of the user, as the home directory tells it.
    pub(crate) fn user(&self) -> &str {
        self.home.rsplit('/').next().unwrap_or("root")
    }

    /// Another place, such as a machine behind ssh: the same rules with nothing known of where.
    pub(crate) fn elsewhere(&self) -> Self {
        Self { cwd: self.home.clone(), home: self.home.clone(), workspaces: vec![] }
    }
}
